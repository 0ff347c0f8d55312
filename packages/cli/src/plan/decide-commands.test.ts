/**
 * A plan and a real session say the same about any arguments of a command cap, in every mode. The program is real, runs
 * in the sandbox, and says which arguments it got. A person says yes to all that is asked.
 */
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Request, SessionFace } from '@hob/host';
import { type Decision, decide, type Mode } from '@hob/manifest';
import { E, type Far } from '@hob/vat';
import fc from 'fast-check';
import { expect, onTestFinished, vi } from 'vitest';
import { requires } from '../../../../test/needs.ts';
import { type PlanScene, planOf, planScene } from '../../test/plan.ts';

const confined = requires('linux', 'cc', 'userns');

const MANIFEST = (mode: Mode): string => `version: 1
roots: { project: project }
flags: { mine: [--stat, "-{n}", "--max={n}", "--name={text}"] }
session:
  mode: ${mode}
  caps:
    src: { fs: project/src, can: [read, list, write] }
    work:
      command: tool
      cwd: project
      argv: [[log|diff, flags(mine)], [add, path(src)], [commit, --no-verify, -m, text], [push, origin, ref], [end, rest], []]
      deny: [[diff]]
    reads: { command: tool, cwd: project, reads: true, argv: [[log|add, text], [diff, flags(mine), text]] }
    human: { command: tool, cwd: project, argv: [[log, rest]], always_human: true }
    gone: { command: tool, cwd: project, argv: [[log]] }
  ask:
    asked: { command: tool, cwd: project, argv: [[push, origin, ref], [log]] }
  deny: [gone]
`;
const word = fc.constantFrom(
  ...['log', 'diff', 'add', 'commit', 'push', 'origin', 'end', 'main', '+main', 'a:b', 'v1.0', '..', 'a..b', '-m'],
  ...[
    '--no-verify',
    '--stat',
    '-5',
    '-x',
    '--max=3',
    '--max=x',
    '--name=a b',
    '--name=--stat',
    '--output=/tmp/x',
    '--',
  ],
  ...[
    'src/a.txt',
    './src/a.txt',
    'src/../notes.txt',
    'src/new',
    'notes.txt',
    '/etc/passwd',
    '../x',
    'x y',
    '',
    "'",
    '$HOME',
  ],
);
/** Rows that are right, with one word of them replaced, left out or added, and any words. */
const row: fc.Arbitrary<readonly string[]> = fc.constantFrom<(readonly string[])[]>(
  ['log', '--stat', '-5'],
  ['diff', '--max=3'],
  ['diff', '--stat', 'x y'],
  ['add', 'src/a.txt'],
  ['commit', '--no-verify', '-m', 'x y'],
  ['push', 'origin', 'main'],
  ['end', 'any', 'words'],
  ['log', 'main'],
  ['log'],
  [],
);
const argv = fc.oneof(
  row,
  fc
    .tuple(row, fc.nat(4), fc.array(word, { maxLength: 1 }))
    .map(([words, at, more]) => words.toSpliced(at, 1, ...more)),
  fc.tuple(row, fc.nat(4), word).map(([words, at, more]) => words.toSpliced(at, 0, more)),
  fc.array(word, { maxLength: 4 }),
);
const call = fc.record({ cap: fc.constantFrom('work', 'work', 'work', 'reads', 'human', 'asked', 'gone'), argv });

type Runner = { run(argv: readonly string[]): Promise<{ readonly status: number; readonly stdout: string }> };

/** Makes the call, says yes to a request, and tells what happened. */
async function outcome(
  at: PlanScene,
  agent: Far<SessionFace>,
  cap: string,
  args: readonly string[],
): Promise<Decision> {
  const named = E(agent).cap(cap) as unknown as Far<Runner>;
  let code: string | undefined;
  const done = E(named)
    .run(args)
    .then(
      ({ status, stdout }) => {
        // The program got these words and no others.
        expect([args, status, stdout]).toEqual([args, 0, args.map((each) => `<${each}>`).join('')]);
        code = 'ok';
      },
      (error: { readonly code?: string }) => {
        code = error.code ?? String(error);
      },
    );
  let asked: Request | undefined;
  while (code === undefined) {
    [asked] = (await E(at.granter).inbox()) as readonly Request[];
    if (asked !== undefined) break;
    await new Promise((resolve) => setImmediate(resolve));
  }
  if (asked !== undefined) await E(at.granter).answer(asked.id, { grant: asked.terms ?? {}, digest: asked.digest });
  await done;
  if (code !== 'ok') expect([args, code]).toEqual([args, expect.stringMatching(/^(?:E_ARGV|no-such-object)$/)]);
  return code !== 'ok' ? 'absent' : asked === undefined ? 'runs' : 'asks';
}

for (const mode of ['plan', 'supervised', 'cautious', 'autonomous'] as const)
  confined(`mode ${mode}: the plan decides about any arguments as a real session does`, async () => {
    const bin = mkdtempSync(join(tmpdir(), 'hob-tool-'));
    onTestFinished(() => rmSync(bin, { recursive: true }));
    mkdirSync(join(bin, 'bin'));
    writeFileSync(join(bin, 'bin', 'tool'), '#!/bin/sh\nfor each; do printf "<%s>" "$each"; done\n');
    chmodSync(join(bin, 'bin', 'tool'), 0o755);
    vi.stubEnv('PATH', `${join(bin, 'bin')}:${process.env['PATH'] ?? ''}`);
    onTestFinished(() => void vi.unstubAllEnvs());
    const at = await planScene();
    const plan = planOf(MANIFEST(mode));
    const { agent } = await at.open(MANIFEST(mode));
    const seen = new Set<string>();
    await fc.assert(
      fc.asyncProperty(call, async ({ cap, argv: args }) => {
        const wanted = decide(plan, { cap, argv: args });
        expect([cap, args, await outcome(at, agent, cap, args)]).toEqual([cap, args, wanted]);
        seen.add(wanted);
      }),
      { numRuns: 40 },
    );
    expect([...seen].sort()).toEqual(mode === 'supervised' ? expect.arrayContaining(['absent', 'asks']) : expect.arrayContaining(['absent', 'runs'])); // biome-ignore format: one line
  });
