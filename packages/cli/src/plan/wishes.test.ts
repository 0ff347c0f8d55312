/** Wish lists over a real host and real folders. The agent writes in the root. */
import { createHash } from 'node:crypto';
import { rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Grant } from '@hob/host';
import type { Plan } from '@hob/manifest';
import { E } from '@hob/vat';
import { expect, onTestFinished, test } from 'vitest';
import { code, type PlanScene, planOf, planScene } from '../../test/plan.ts';
import { ServedWishes } from '../daemon/wishes.ts';
import type { PlanSessions } from './sessions.ts';
import { type WishReader, wishedPlan } from './wishes.ts';

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
const hashOf = (text: string): string => sha256(new TextEncoder().encode(text));
const MANIFEST =
  'version: 1\nroots: { project: project }\nsession: { caps: { src: { fs: project/src, can: [read] } } }\n';
const wishFor = (...caps: readonly string[]): string => `version: 1\nsession: { ask: { ${caps.join(', ')} } }\n`;
const NOTES = wishFor('notes: { fs: project, can: [read, list] }');

interface Scene extends PlanScene {
  readonly plan: Plan;
  readonly wishes: ServedWishes;
  readonly served: PlanSessions;
  readonly reader: WishReader;
  write(text: string): void;
  accept(text: string): Promise<void>;
  state(): Promise<string | undefined>;
}

async function scene(): Promise<Scene> {
  const at = await planScene();
  const plan = planOf(MANIFEST);
  const served = await at.sessions(MANIFEST);
  const reader = { directories: served.directories, hash: sha256, now: () => Date.now() };
  const wishes = new ServedWishes(at.granter, plan, reader, String);
  const file = join(at.folder, 'project/hob.yaml');
  return {
    ...at,
    plan,
    wishes,
    served,
    reader,
    write: (text) => writeFileSync(file, text),
    accept: async (text) => void (await E(at.granter).accept({ name: 'project/hob.yaml', hash: hashOf(text) })),
    state: async () => (await wishes.rows())[0]?.state,
  };
}

test('only exactly the accepted text fills ask, and only with caps that ask', async () => {
  const at = await scene();
  at.write(NOTES);
  expect(await at.state()).toBe('waits');
  expect((await at.wishes.over()).plan).toBe(at.plan);
  await at.accept(`${NOTES} `);
  expect(await at.state()).toBe('waits');
  // Also where the file changes after the look whether it has changed.
  for (const other of [{ name: 'project/hob.yaml', hash: hashOf(`${NOTES} `) }, { name: 'other/hob.yaml', hash: hashOf(NOTES) }]) // biome-ignore format: one line
    expect((await wishedPlan(at.plan, [other], at.reader)).plan).toBe(at.plan);
  await at.accept(NOTES);
  const { plan, from } = await at.wishes.over();
  expect(from).toEqual({ notes: { name: 'project/hob.yaml', hash: hashOf(NOTES) } });
  expect(Object.values(plan.caps)).toMatchObject([
    { name: 'src', how: 'mint' },
    { name: 'notes', how: 'ask' },
  ]);
});

test('any change ends the acceptance for good: another text, no file, a link, a folder, another encoding', async () => {
  const at = await scene();
  const file = join(at.folder, 'project/hob.yaml');
  const outside = join(at.folder, 'outside.yaml');
  writeFileSync(outside, NOTES);
  const changes: readonly (() => void)[] = [
    () => at.write(NOTES.replace('read, list', 'read, list, write')),
    () => rmSync(file),
    () => {
      rmSync(file);
      symlinkSync(outside, file);
    },
    () => writeFileSync(file, `\uFEFF${NOTES}`),
    () => writeFileSync(file, Buffer.from(NOTES, 'utf16le')),
  ];
  for (const change of changes) {
    rmSync(file, { force: true });
    at.write(NOTES);
    await at.accept(NOTES);
    expect(await at.state()).toBe('accepted');
    change();
    expect((await at.wishes.over()).from).toEqual({});
    rmSync(file, { force: true });
    // The old text is a text like any other now.
    at.write(NOTES);
    expect(await at.state()).toBe('waits');
    expect(await E(at.granter).acceptances()).toEqual([]);
  }
});

test('what a list filled ends with its acceptance in every open session, and the rest of the session goes on', async () => {
  const at = await scene();
  at.write(NOTES);
  await at.accept(NOTES);
  const { session } = await at.served.open('one', await at.wishes.over());
  const agent = (await at.enter(session.secret)).bootstrap;
  expect(await E(agent).caps()).toEqual(['notes', 'src']);
  at.write(`${NOTES}#`);
  await at.wishes.endChanged();
  const grants = (await E(at.granter).list({ session: session.id })) as readonly Grant[];
  expect(Object.fromEntries(grants.map(({ petname, state }) => [petname, state]))).toEqual({ src: 'live', notes: 'revoked' }); // biome-ignore format: one line
  const notes = E(agent).cap<{ list(): unknown }>('notes') as never as { list(): Promise<unknown> };
  expect(await code(E(notes).list() as never)).toBe('revoked');
});

test('an acceptance that ends between reading and granting grants nothing', async () => {
  const at = await scene();
  at.write(NOTES);
  await at.accept(NOTES);
  const wished = await at.wishes.over();
  await E(at.granter).endAcceptance('project/hob.yaml', 'meanwhile');
  const { session, dropped } = await at.served.open('late', wished);
  expect(dropped).toEqual([expect.stringMatching(/^project\/hob\.yaml: notes is left out: nobody accepts that text/)]);
  expect(await E((await at.enter(session.secret)).bootstrap).caps()).toEqual(['src']);
});

test('a wish that this machine cannot make is left out by name, and nothing else of the session', async () => {
  const at = await scene();
  const text = wishFor(
    'notes: { fs: project, can: [read] }',
    'none: { command: no-such-program-here, argv: [[a]] }',
    'sub: { fs: project/none, can: [read] }',
    'approved-by-owner: { fs: project, can: [read] }',
  );
  at.write(text);
  await at.accept(text);
  const { session, dropped } = await at.served.open('one', await at.wishes.over());
  expect(dropped.map((one) => one.split(' ')[1]).sort()).toEqual(['approved-by-owner', 'none', 'sub']);
  expect(await E((await at.enter(session.secret)).bootstrap).caps()).toEqual(['notes', 'src']);
});

test('a list of hundreds of wishes, of another user’s bytes or without a shape is named, and adds nothing', async () => {
  const at = await scene();
  onTestFinished(() => rmSync(join(at.folder, 'project/hob.yaml'), { force: true }));
  for (const [text, why] of [
    [wishFor(...Array.from({ length: 100 }, (_, n) => `w${n}x: { fs: project, can: [read] }`)), /more than 32 caps/],
    [NOTES.replace('notes', 'Src'), /Src looks like src/],
    ['version: 1\nsession: { mode: autonomous }\n', /it can only ask/],
    ['x'.repeat(300_000), /KiB/],
  ] as const) {
    at.write(text);
    await at.accept(text);
    const [row] = await at.wishes.rows();
    expect([row?.state, row?.asks]).toEqual(['mistaken', []]);
    expect(row?.mistakes.join('\n')).toMatch(why);
    expect((await at.wishes.over()).plan).toBe(at.plan);
  }
});
