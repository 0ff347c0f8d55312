/** Changes that go on at once and are looked at afterwards. The agent is the attacker; the person may take back. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openFsCap } from '@hob/caps-fs';
import { type CallFacts, openHost, type Request } from '@hob/host';
import { E } from '@hob/vat';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import type { ToolCallAssessment } from '../assess/assessment.ts';
import type { Sensitivity } from '../call/call.ts';
import { effectOf } from '../call/effect.ts';
import { type FirewallOptions, makeFirewall } from '../firewall.ts';
import { isReviewed } from './lane.ts';

async function world(options: Partial<FirewallOptions> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'hob-review-'));
  const root = join(folder, 'root');
  mkdirSync(root);
  writeFileSync(join(root, 'a.txt'), 'one\n');
  const firewall = makeFirewall({ mode: 'enforce', review: (offer) => offer === 'notes', ...options });
  const host = await openHost({ stateDir: join(folder, 'state'), firewall });
  const directory = await openFsCap(root);
  onTestFinished(async () => {
    await host.close();
    await directory.close();
    rmSync(folder, { recursive: true });
  });
  await host.offer('notes', directory);
  const { granter } = await host.addGranter('alice');
  const session = await host.openSession({ name: 'work', granters: ['alice'] });
  await E(granter).grant(session.id, 'notes', 'notes', { for: 600_000 });
  const inbox = async (count: number): Promise<readonly Request[]> => {
    for (;;) {
      const all = (await E(granter).inbox()) as readonly Request[];
      if (all.length === count) return all;
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const reviews = async (): Promise<readonly unknown[]> => {
    const all: Record<string, unknown>[] = [];
    for await (const text of host.ledger()) all.push(JSON.parse(text) as Record<string, unknown>);
    return all.filter(({ k }) => k === 'review').map(({ what }) => what);
  };
  /** Waits until the last line about a review says that. */
  const until = async (what: string): Promise<void> => {
    while ((await reviews()).at(-1) !== what) await new Promise((resolve) => setImmediate(resolve));
  };
  const file = (name: string): string | undefined => {
    try {
      return readFileSync(join(root, name), 'utf8');
    } catch {
      return undefined;
    }
  };
  const refuse = (asked: Request): Promise<void> => E(granter).answer(asked.id, { refuse: 'take it back', digest: asked.digest }) as unknown as Promise<void>; // biome-ignore format: one line
  const keep = (asked: Request): Promise<void> => E(granter).answer(asked.id, { grant: {}, digest: asked.digest }) as unknown as Promise<void>; // biome-ignore format: one line
  return { host, root, granter, session, inbox, reviews, until, file, refuse, keep, notes: await session.cap<typeof directory>('notes') }; // biome-ignore format: one line
}

test('a change goes on at once; the person sees its diff, and a refusal takes it back', async () => {
  const at = await world();
  await E(at.notes).write('a.txt', 'two\n');
  expect(at.file('a.txt')).toBe('two\n');
  const [asked] = await at.inbox(1);
  expect(asked).toMatchObject({
    effect: expect.stringMatching(/^for review, as it goes on at once: replaces the file/),
    diff: expect.stringMatching(/-one[\s\S]*\+two/),
    permits: ['that this change stays: a refusal takes it back, while the file is as the change left it'],
  });
  await at.refuse(asked!);
  await at.until('undone');
  expect(at.file('a.txt')).toBe('one\n');
  expect(await at.reviews()).toEqual(['made', 'undone']);
});

test('a yes keeps the change; a file that was made is removed again; an edit is taken back, too', async () => {
  const at = await world();
  await E(at.notes).write('a.txt', 'two\n');
  await at.keep((await at.inbox(1))[0]!);
  await at.inbox(0);
  await E(at.notes).write('new.txt', 'new\n');
  await at.refuse((await at.inbox(1))[0]!);
  await at.until('undone');
  expect([at.file('a.txt'), at.file('new.txt')]).toEqual(['two\n', undefined]);
  await E(at.notes).write('other.txt', 'new\n');
  const [other] = await at.inbox(1);
  writeFileSync(join(at.root, 'other.txt'), 'mine\n');
  await at.refuse(other!);
  await at.until('stale');
  expect(at.file('other.txt')).toBe('mine\n');
  await E(at.notes).edit('a.txt', [{ oldText: 'two', newText: 'three' }]);
  const [edited] = await at.inbox(1);
  expect([at.file('a.txt'), edited!.diff]).toEqual(['three\n', expect.stringContaining('+three')]);
  await at.refuse(edited!);
  await at.until('undone');
  expect(at.file('a.txt')).toBe('two\n');
});

test('what was changed since is not taken back: nobody’s later work is lost', async () => {
  const at = await world();
  await E(at.notes).write('a.txt', 'two\n');
  const [first] = await at.inbox(1);
  writeFileSync(join(at.root, 'a.txt'), 'mine\n');
  await at.refuse(first!);
  await at.until('stale');
  expect(at.file('a.txt')).toBe('mine\n');
});

test('two changes at once are two reviews, each of what it made; a refusal that comes at once is kept, too', async () => {
  const at = await world();
  await Promise.all([E(at.notes).write('a.txt', 'two\n'), E(at.notes).write('a.txt', 'three\n')]);
  const both = await at.inbox(2);
  const [last, other] = at.file('a.txt') === 'three\n' ? ['three', 'two'] : ['two', 'three'];
  const latest = both.find(({ diff }) => diff?.includes(`+${last}`));
  expect([latest?.diff, both.length]).toEqual([expect.stringContaining(`-${other}`), 2]);
  await at.refuse(latest!);
  await at.until('undone');
  expect(at.file('a.txt')).toBe(`${other}\n`);
});

test('what cannot be shown or taken back waits instead, and one change more than a person would read is refused', async () => {
  const at = await world();
  writeFileSync(join(at.root, 'bytes'), new Uint8Array([0xff, 0xfe, 0]));
  const waiting = E(at.notes).write('bytes', 'text');
  const [asked] = await at.inbox(1);
  expect(asked!.table).toContainEqual(['why it waits', 'it could not be shown and taken back afterwards']);
  await at.refuse(asked!);
  await expect(waiting).rejects.toMatchObject({ code: 'denied' });
  for (let n = 0; n < 16; n += 1) await E(at.notes).write(`${n}.txt`, 'x\n');
  await at.inbox(16);
  await expect(E(at.notes).write('17.txt', 'x\n')).rejects.toMatchObject({ code: 'limit' });
  expect(at.file('17.txt')).toBe(undefined);
});

test('without the lane, in observe, and under a low level nothing is reviewed', async () => {
  for (const options of [{ review: () => false }, { mode: 'observe' as const }]) {
    const at = await world(options);
    await E(at.notes).write('a.txt', 'two\n');
    expect([await at.inbox(0), await at.reviews()]).toEqual([[], []]);
  }
  const facts = { ...write, level: 'low' } as const;
  expect(laned(facts)).toMatchObject({ waits: true, review: false });
});

const write: CallFacts = { session: 's', grant: 'g', petname: 'notes', offer: 'notes', method: 'write', args: ['a', 'b'], effects: { write: { class: 'B', undo: 'hard' } }, reads: [], level: 'medium', waits: false, undoes: true }; // biome-ignore format: one line
const laned = (facts: CallFacts, more: Partial<FirewallOptions> = {}) => makeFirewall({ mode: 'enforce', review: () => true, ...more }).decide(facts); // biome-ignore format: one line

test('the lane is for a local change that can be taken back', () => {
  expect(laned(write)).toMatchObject({ waits: false, review: true, trace: { pattern: 'post_execution_review' } });
  expect(laned({ ...write, undoes: false })).toMatchObject({ review: false });
  expect(laned(write, { opinions: [() => ({ risk: 0.61, confidence: 1 })] })).toMatchObject({ waits: true, review: false }); // biome-ignore format: one line
  for (const of of ['A', 'C', 'D'] as const) expect(laned({ ...write, effects: { write: { class: of, undo: 'easy' } } }).review).toBe(false); // biome-ignore format: one line
  // Weak confidence waits without the lane, and is reviewed with it.
  expect(laned({ ...write, args: [''] }, { review: () => false }).waits).toBe(true);
  expect(laned({ ...write, args: [''] })).toMatchObject({ waits: false, review: true });
});

test('never for crisis', () => {
  const facts: CallFacts = { ...write, args: ['bob', 'Please call 911 now'], effects: { write: { class: 'B', outbound: true } } }; // biome-ignore format: one line
  expect(laned(facts)).toMatchObject({ waits: true, review: false, trace: { crisis: true } });
});

test('never for money', () => {
  expect(laned({ ...write, effects: { write: { class: 'D', undo: 'easy' } } })).toMatchObject({ waits: true, review: false }); // biome-ignore format: one line
});

test('never for destructive configuration', () => {
  expect(laned(write, { sensitivity: () => 'high' })).toMatchObject({ waits: true, review: false });
  // By itself, too, and not only because its score is high.
  const change = { method: 'write', args: ['a'], effect: effectOf('write', write.effects, []), crisis: false };
  const lane = (sensitivity: Sensitivity): boolean => isReviewed({ risk_score: 0.5 } as ToolCallAssessment, { ...change, sensitivity }, { level: 'medium', undoes: true }); // biome-ignore format: one line
  expect([lane('ordinary'), lane('high')]).toEqual([true, false]);
  expect(laned({ ...write, effects: { write: { class: 'B', undo: 'impossible' } } })).toMatchObject({ waits: true, review: false }); // biome-ignore format: one line
});

test('never for sensitive communication', () => {
  for (const level of ['medium', 'high'] as const)
    expect(laned({ ...write, level, effects: { write: { class: 'C', outbound: true } } })).toMatchObject({ review: false }); // biome-ignore format: one line
  expect(laned({ ...write, effects: { write: { class: 'B', outbound: true } } })).toMatchObject({ review: false });
  expect(laned({ ...write, effects: undefined })).toMatchObject({ waits: true, review: false });
});

test('for all calls, plugins and levels: the lane never turns a wait above 0.6 into a go, nor one that the terms would make', () => {
  const effect = fc.record({ class: fc.constantFrom('A', 'B', 'C', 'D'), undo: fc.constantFrom('easy', 'hard', 'impossible'), outbound: fc.boolean() }); // biome-ignore format: one line
  const facts = fc.record({ effect: fc.option(effect), level: fc.constantFrom('low', 'medium', 'high'), args: fc.array(fc.anything(), { maxLength: 3 }), undoes: fc.boolean() }); // biome-ignore format: one line
  const opinion = fc.record({ risk: fc.double({ min: 0, max: 1, noNaN: true }), confidence: fc.double({ min: 0, max: 1, noNaN: true }) }); // biome-ignore format: one line
  const kinds = fc.constantFrom('scratch' as const, 'ordinary' as const, 'high' as const);
  fc.assert(
    fc.property(facts, opinion, kinds, (of, said, sensitivity) => {
      const call = { ...write, ...of, effects: of.effect === null ? undefined : { write: of.effect } } as CallFacts;
      const options = { opinions: [() => said], sensitivity: () => sensitivity };
      const [plain, lane] = [laned(call, { ...options, review: () => false }), laned(call, options)];
      expect(lane.trace['risk']).toBe(plain.trace['risk']);
      if (plain.waits && (plain.trace['risk'] as number) > 0.6 && call.level !== 'high') expect(lane.waits).toBe(true);
      if (lane.review === true)
        expect([lane.waits, call.undoes, call.level === 'low', (lane.trace['risk'] as number) <= 0.6]).toEqual([false, true, false, true]); // biome-ignore format: one line
      else expect(lane.waits).toBe(plain.waits);
    }),
  );
});
