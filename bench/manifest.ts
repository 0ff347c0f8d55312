/**
 * `hob check` of hostile manifests, as a process, beside `node -e 0`: what a person waits for beyond the start of Node.
 *
 * The costliest kinds of `packages/manifest/test/hostile.ts`, in turn.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Suite } from './measure.ts';

const main = new URL('../packages/cli/src/main.ts', import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), 'hob-bench-manifest-'));
const file = join(folder, 'hob.yaml');

let next = 0;
const lines = (count: number, line: (n: number) => string): string =>
  Array.from({ length: count }, (_, n) => line(n)).join('\n');
const HEAD = 'version: 1\nroots: { project: . }\nsession:\n  caps:\n';
const texts: readonly string[] = [
  'version: 1\nroots: [a',
  `${HEAD}${lines(1900, (n) => `    k${n}: {}`)}`,
  `${HEAD}${lines(900, (n) => `    k${n}: { fs: project, can: [read], uzes: 1, exept: [a] }`)}`,
  lines(4000, () => 'a: b: c'),
  `version: 1\nroots:\n${lines(3000, (n) => `  k${n}: &a${n} .`)}`,
  `version: 1\nflags: { ${lines(20_000, (n) => `k${n}: 1,`)} }`,
];

/** ms from the start of a process to its end. */
function took(args: readonly string[]): number {
  const began = performance.now();
  const { status } = spawnSync(process.execPath, args, { stdio: 'ignore' });
  if (status === null) throw new Error('the child did not end');
  return performance.now() - began;
}

export const suite: Suite = {
  name: 'manifest',
  cases: [
    {
      name: 'hob check of a hostile manifest, beside node -e 0',
      unit: 'ms',
      n: 1,
      rounds: 20,
      ours: () => {
        writeFileSync(file, texts[next++ % texts.length] ?? '');
        return took([main, 'check', file]);
      },
      peer: () => took(['-e', '0']),
      goal: { text: 'at most 100 ms beyond node -e 0', met: ({ ours, peer }) => ours - peer <= 100 },
    },
  ],
  close: async () => rmSync(folder, { recursive: true, force: true }),
};
