/**
 * A plan and a real session say the same about a call, in every mode, and no layer widens what a session does. The
 * agent is at the far end of a wire; a person says yes to all that is asked.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Request, SessionFace } from '@hob/host';
import { check, type Decision, decide, type Layer, type Mode, type Plan } from '@hob/manifest';
import { E, type Far } from '@hob/vat';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type PlanScene, planScene } from '../../test/plan.ts';
import { petnameOf } from './names.ts';

type Anything = Record<string, (...args: readonly unknown[]) => Promise<unknown>>;

/** The arguments of each method for one path. */
const ARGS: Readonly<Record<string, (path: string) => readonly unknown[]>> = {
  readText: (path) => [path],
  stat: (path) => [path],
  list: () => ['.'],
  search: () => ['one'],
  write: (path) => [path, 'new\n'],
  append: (path) => [path, 'more\n'],
  edit: (path) => [path, [{ oldText: 'one', newText: 'two' }]],
  truncate: (path) => [path, 1],
  mkdir: (path) => [`${path}-made`],
  copy: (path) => [path, 'copy.txt'],
  chmod: (path) => [path, 0o600],
  openWrite: (path) => [path],
  remove: (path) => [path],
};
const FILES = ['a.txt', '.env', 'src/a.txt'];
/** The codes of what no person can let through. */
const REFUSED = new Set(['NOT_PERMITTED', 'READ_ONLY', 'no-such-object', 'no-such-method']);

interface Played {
  readonly cap: string;
  readonly method: string;
  readonly path: string;
}

/** Puts the files back, makes the call, says yes to a request, and tells what happened. */
async function outcome(at: PlanScene, agent: Far<SessionFace>, { cap, method, path }: Played): Promise<Decision> {
  for (const file of FILES) writeFileSync(join(at.folder, 'project', file), 'one\n');
  const named = E(agent).cap(petnameOf(cap)) as unknown as Far<Anything>;
  let code: string | undefined;
  const done = (E(named)[method] as Anything[string])(...(ARGS[method]?.(path) ?? [])).then(
    () => {
      code = 'ok';
    },
    (error: { readonly code?: string }) => {
      code = error.code ?? 'error';
    },
  );
  let asked: Request | undefined;
  while (code === undefined || code === 'drafted') {
    [asked] = (await E(at.granter).inbox()) as readonly Request[];
    if (asked !== undefined) break;
    await new Promise((resolve) => setImmediate(resolve));
  }
  if (asked === undefined) return REFUSED.has(code ?? '') ? 'absent' : 'runs';
  await E(at.granter).answer(asked.id, { grant: asked.terms ?? {}, digest: asked.digest });
  await done;
  if (asked.draft === true) return REFUSED.has(await draftEnd(at, asked.id)) ? 'absent' : 'drafts';
  return REFUSED.has(code ?? '') ? 'absent' : 'asks';
}

/** Waits until the draft is made or has failed. Returns the code of a failure. */
async function draftEnd(at: PlanScene, id: string): Promise<string> {
  for (;;) {
    let code: string | undefined;
    for await (const text of at.host.ledger()) {
      const line = JSON.parse(text) as Record<string, unknown>;
      if (line['k'] === 'draft' && line['request'] === id) code = line['what'] === 'fail' ? String(line['code']) : '';
    }
    if (code !== undefined && code !== '') return code;
    const changed = FILES.some((file) => !isAsItWas(at, file));
    if (code === '' && changed) return '';
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
const isAsItWas = (at: PlanScene, file: string): boolean =>
  readFileSync(join(at.folder, 'project', file), 'utf8') === 'one\n';

const MANIFEST = (mode: Mode): string => `version: 1
roots: { project: project }
session:
  mode: ${mode}
  caps:
    all: { fs: project, can: [read, list, search, write, remove], except: [.env*] }
    reads: { fs: project, can: [read, list] }
    drops: { fs: project/src, can: [write] }
    human: { fs: project, can: [read, write], always_human: true }
    gone: { fs: project, can: [read, write] }
  ask:
    asked: { fs: project, can: [read, write], offer: { uses: 1 } }
  deny: [gone]
`;
/** Methods that leave no mark on the files. */
const UNMARKED = ['mkdir', 'copy', 'chmod'];
const call = fc.record({
  cap: fc.constantFrom('all', 'all', 'reads', 'drops', 'human', 'gone', 'asked'),
  method: fc.constantFrom(...Object.keys(ARGS)),
  path: fc.constantFrom('a.txt', '.env'),
});

for (const mode of ['plan', 'supervised', 'cautious', 'autonomous'] as const)
  test(`mode ${mode}: the plan decides about any call as a real session does`, async () => {
    const at = await planScene({ 'a.txt': 'one\n' });
    const text = MANIFEST(mode);
    const { plan } = check([{ layer: 'user', file: 'hob.yaml', text }], { now: Date.now() }) as { readonly plan: Plan };
    const { agent } = await at.open(text);
    const seen = new Set<string>();
    await fc.assert(
      fc.asyncProperty(call, async (one) => {
        // The files tell whether a draft was made, if it changes one of them.
        fc.pre(mode !== 'plan' || !UNMARKED.includes(one.method));
        // These two name no file.
        const isOfAll = one.method === 'list' || one.method === 'search';
        const inSrc = isOfAll || one.cap === 'drops' ? { ...one, path: 'a.txt' } : one;
        const wanted = decide(plan, inSrc);
        expect([inSrc, await outcome(at, agent, inSrc)]).toEqual([inSrc, wanted]);
        seen.add(wanted);
      }),
      { numRuns: 60 },
    );
    expect([...seen].sort()).toEqual(expect.arrayContaining(['absent', 'asks']));
    expect(seen.has('drafts')).toBe(mode === 'plan');
  });

const RANK = { absent: 0, drafts: 1, asks: 1, runs: 2 } as const;
const rights = fc.uniqueArray(fc.constantFrom('read', 'list', 'search', 'write', 'remove'), { minLength: 1 });
const fsCap = fc.record(
  { fs: fc.constantFrom('project', 'project/src'), can: rights },
  { requiredKeys: ['fs', 'can'] },
);
const lower = fc.record(
  {
    mode: fc.constantFrom('plan', 'supervised', 'cautious', 'autonomous'),
    caps: fc.record({ all: fsCap, reads: fsCap, more: fsCap }, { requiredKeys: [] }),
    deny: fc.constantFrom(['reads'], ['all']),
  },
  { requiredKeys: [] },
);

test('no layer below the bound gives a real session more than the bound gave, in whatever order they are named', async () => {
  const at = await planScene({ 'a.txt': 'one\n' });
  const around = { now: Date.now() };
  const bound: Layer = { layer: 'user', file: 'user.yaml', text: MANIFEST('cautious') };
  const most = check([bound], around).plan as Plan;
  let [n, compared] = [0, 0];
  await fc.assert(
    fc.asyncProperty(lower, lower, fc.array(call, { minLength: 4, maxLength: 4 }), async (project, local, calls) => {
      const layer = (name: 'project' | 'local', session: object): Layer => ({
        layer: name,
        file: `${name}.yaml`,
        text: JSON.stringify({ version: 1, session }),
      });
      const { plan } = check([layer('local', local), bound, layer('project', project)], around);
      if (plan === undefined) return;
      n += 1;
      const { session } = await (await at.sessionsOf(plan)).open(`s${n}`);
      const agent = (await at.enter(session.secret)).bootstrap;
      for (const one of calls) {
        // A directory deeper down has other files of that name, which the bound shows as well.
        const deeper = { ...one, path: 'a.txt' };
        if (UNMARKED.includes(one.method)) continue;
        compared += 1;
        const real = await outcome(at, agent, deeper);
        expect([deeper, real, RANK[real] <= RANK[decide(most, deeper)]]).toEqual([deeper, real, true]);
      }
      await session.end();
    }),
    { numRuns: 15 },
  );
  expect(compared).toBeGreaterThan(20);
});
