/** The eight situations of `examples/manifests`, played against a real host. The agent is at the far end of a wire. */
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SessionFace } from '@hob/host';
import { type Mode, type Plan, parse, wish } from '@hob/manifest';
import { E, type Far } from '@hob/vat';
import { expect, onTestFinished, test, vi } from 'vitest';
import { requires } from '../../../../test/needs.ts';
import { type PlanScene, planOf, planScene } from '../../test/plan.ts';

const folder = new URL('../../../../examples/manifests/', import.meta.url).pathname;
const text = (name: string): string => readFileSync(join(folder, name), 'utf8');

/** The first example of the README of the manifest package, without what is not built yet. */
const GIT = `
version: 1
roots: { project: project }
session:
  mode: autonomous
  caps:
    src:  { fs: project/src, can: [read, list, write] }
    git:
      command: git
      cwd: project
      argv: [[status|log|diff|show, flags(git.read)], [add, path(src)], [commit, --no-verify, -m, text]]
      match: ["git log -5", "git commit --no-verify -m x", "git add src/a.txt", "git status"]
      not_match: ["git push", "git -c core.pager=x log", "git diff --output=/tmp/x", "git add notes.txt", "git log --ext-diff", "git commit -m x"]
  ask:
    push: { command: git, argv: [[push, origin, ref]], match: ["git push origin main"], not_match: ["git push origin +main", "git push origin a:b"] }
`;

interface Step {
  readonly session?: string;
  readonly mode?: Mode;
  readonly cap: string;
  readonly method: string;
  readonly args: readonly unknown[];
  readonly ends: string;
  readonly status?: number;
}
type Anything = Record<string, (...args: readonly unknown[]) => Promise<unknown>>;

/** How one call ends. A person says yes to all that is asked for. */
async function play(at: PlanScene, agent: Far<SessionFace>, { cap, method, args }: Step): Promise<readonly unknown[]> {
  let ended: readonly unknown[] | undefined;
  const named = E(agent).cap(cap) as unknown as Far<Anything>;
  const call = (E(named)[method] as Anything[string])(...args).then(
    (value) => {
      ended = ['runs', value];
    },
    (error: { readonly code?: string }) => {
      ended = [error.code ?? String(error)];
    },
  );
  let asked = false;
  while (ended === undefined || ended[0] === 'drafted') {
    if (((await E(at.granter).inbox()) as readonly unknown[]).length > 0) {
      asked = true;
      await at.grantAll();
      await call;
      if (ended?.[0] === 'drafted') return ['drafts'];
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
  return asked && ended[0] === 'runs' ? ['asks', ended[1]] : ended;
}

async function playAll(name: string): Promise<void> {
  const at = await planScene();
  const manifest = text(`${name}.yaml`);
  const agents = new Map<string, Far<SessionFace>>();
  const steps = text(`${name}.jsonl`).trim().split('\n');
  expect(steps.length).toBeGreaterThan(3);
  let last: unknown;
  for (const line of steps) {
    const step = JSON.parse(line) as Step;
    const mode = step.mode === undefined ? manifest : manifest.replace(/^ {2}mode: .*$/m, `  mode: ${step.mode}`);
    const session = step.session ?? step.mode ?? 'work';
    const agent = agents.get(session) ?? (await at.open(mode, session)).agent;
    agents.set(session, agent);
    const args = step.args.map((arg) => (arg === '(what the last call returned)' ? last : arg));
    const [ends, value] = await play(at, agent, { ...step, args });
    last = value;
    expect([line, ends]).toEqual([line, step.ends]);
    if (step.status !== undefined) expect([line, (value as { status: number }).status]).toEqual([line, step.status]);
  }
}

test('each manifest has a script, and the other way round', () => {
  const names = readdirSync(folder).filter((name) => /^[a-z-]+\.(?:yaml|jsonl)$/.test(name));
  expect(names.length).toBe(16);
  expect(new Set(names.map((name) => name.split('.')[0])).size).toBe(8);
});

for (const name of ['shared-gateway', 'compliance', 'progressive-trust', 'fetch-and-tell', 'nightly'])
  test(`${name}: every call ends as its script says`, () => playAll(name));

const confined = requires('linux', 'cc', 'userns');
for (const name of ['pair-programming', 'untrusted-repository'])
  confined(`${name}: every call ends as its script says`, () => playAll(name));

/** The examples that a manifest writes for its commands. `words` is a whole command line. */
interface Example {
  readonly cap: string;
  readonly words: readonly string[];
}
const wordsOf = (example: unknown): readonly string[] =>
  typeof example === 'string'
    ? [...example.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(([, a, b, c]) => a ?? b ?? c ?? '')
    : (example as readonly string[]);
function examplesOf(manifest: string, key: 'match' | 'not_match'): readonly Example[] {
  const { session = {} } = parse({ file: 'hob.yaml', text: manifest }).manifest ?? {};
  return Object.entries({ ...session.caps, ...session.ask }).flatMap(([cap, one]) =>
    'command' in one ? (one[key] ?? []).map((example) => ({ cap, words: wordsOf(example) })) : [],
  );
}

confined('every match of the examples runs in a real session, and every not_match has no path to run', async () => {
  const manifests = [...readdirSync(folder).filter((name) => name.endsWith('.yaml') && !name.includes('wishes')).map((name) => text(name)), GIT]; // biome-ignore format: one line
  // Each program prints its arguments, so what runs is what was asked for.
  const bin = mkdtempSync(join(tmpdir(), 'hob-examples-'));
  onTestFinished(() => rmSync(bin, { recursive: true }));
  mkdirSync(join(bin, 'bin'));
  for (const program of ['psql', 'touch', 'git', 'npm']) {
    writeFileSync(join(bin, 'bin', program), '#!/bin/sh\nprintf "%s\\n" "$@"\n');
    chmodSync(join(bin, 'bin', program), 0o755);
  }
  vi.stubEnv('PATH', `${join(bin, 'bin')}:${process.env['PATH'] ?? ''}`);
  onTestFinished(() => void vi.unstubAllEnvs());
  let [ran, refused] = [0, 0];
  for (const [n, manifest] of manifests.entries()) {
    const [yes, no] = [examplesOf(manifest, 'match'), examplesOf(manifest, 'not_match')];
    if (yes.length + no.length === 0) continue;
    const at = await planScene();
    const { agent, session } = await at.open(manifest, `examples-${n}`);
    const run = (cap: string, args: readonly string[]): Promise<readonly unknown[]> =>
      play(at, agent, { cap, method: 'run', args: [args], ends: '' });
    for (const { cap, words } of yes) {
      const [how, value] = await run(cap, words.slice(1));
      expect([words, how]).toEqual([words, expect.stringMatching(/^(?:runs|asks)$/)]);
      expect(value).toMatchObject({ status: 0, stdout: `${words.slice(1).join('\n')}\n` });
      ran += 1;
    }
    // No cap of the session takes it, whichever program the cap runs.
    for (const { words } of no)
      for (const name of (await E(agent).caps()) as readonly string[]) {
        const [how] = await run(name, words.slice(1));
        expect([words, name, how]).toEqual([words, name, expect.stringMatching(/^(?:E_ARGV|no-such-method|NOT_PERMITTED)$/)]); // biome-ignore format: one line
        refused += 1;
      }
    await session.end();
  }
  expect([ran, refused]).toEqual([expect.any(Number), expect.any(Number)]);
  expect(Math.min(ran, refused)).toBeGreaterThan(3);
});

confined('production-database: every call ends as its script says', async () => {
  const bin = mkdtempSync(join(tmpdir(), 'hob-psql-'));
  onTestFinished(() => rmSync(bin, { recursive: true }));
  mkdirSync(join(bin, 'bin'));
  writeFileSync(join(bin, 'bin', 'psql'), '#!/bin/sh\necho "$@"\n');
  chmodSync(join(bin, 'bin', 'psql'), 0o755);
  vi.stubEnv('PATH', `${join(bin, 'bin')}:${process.env['PATH'] ?? ''}`);
  onTestFinished(() => void vi.unstubAllEnvs());
  await playAll('production-database');
});

test('untrusted-repository: its wishes are nothing until exactly their text is accepted, and then they ask', () => {
  const plan: Plan = planOf(text('untrusted-repository.yaml'));
  const source = { file: 'hob.yaml', text: text('untrusted-repository.wishes.yaml') };
  const sha256 = (all: string): string => createHash('sha256').update(all).digest('hex');
  const around = { now: Date.now(), sha256 };
  const before = wish(plan, source, { ...around, accepted: [] });
  expect(before).toMatchObject({ mistakes: [], isAccepted: false });
  expect(before.plan).toBe(plan);
  const after = wish(plan, source, { ...around, accepted: [before.hash] });
  expect(after.plan.caps['home']).toMatchObject({ how: 'ask' });
});
