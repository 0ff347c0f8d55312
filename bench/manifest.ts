/**
 * `hob check` of hostile manifests, as a process, beside `node -e 0`: what a person waits for beyond the start of Node.
 *
 * `hob` is as `npm run pack` makes it: JavaScript, with a bundle for this verb, and with Node's cache of compiled code.
 * It is the time from the start of the process to its end, as a person waits for it. Run it on a quiet machine.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleVerbs } from '../scripts/pack/bundle.ts';
import { median, type Suite } from './measure.ts';

/** Hostile manifests that the tests of the package refuse. */
const { HOSTILE } = (await import(new URL('../packages/manifest/test/hostile.ts', import.meta.url).href)) as {
  readonly HOSTILE: readonly { readonly text: string }[];
};
const folder = mkdtempSync(join(tmpdir(), 'hob-bench-manifest-'));
const file = join(folder, 'hob.yaml');
const main = join(folder, 'dist', 'main.js');
for (const name of ['dist', 'node_modules']) mkdirSync(join(folder, name), { recursive: true });
writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
for (const name of ['main', 'client-verbs', 'data-verbs']) {
  const text = readFileSync(new URL(`../packages/cli/src/${name}.ts`, import.meta.url), 'utf8');
  writeFileSync(join(folder, 'dist', `${name}.js`), stripTypeScriptTypes(text).replaceAll(".ts'", ".js'"));
}
await bundleVerbs(join(folder, 'dist'));

let next = 0;
const lines = (count: number, line: (n: number) => string): string =>
  Array.from({ length: count }, (_, n) => line(n)).join('\n');
const HEAD = 'version: 1\nroots: { project: . }\nsession:\n  caps:\n';
/** The costliest kinds. */
const texts: readonly string[] = [
  'version: 1\nroots: [a',
  `${HEAD}${lines(240, (n) => `    k${n}: {}`)}`,
  `${HEAD}${lines(170, (n) => `    k${n}: { fs: project, can: [read], uzes: 1, exept: [a] }`)}`,
  lines(990, () => 'a: b: c'),
  `version: 1\nroots:\n${lines(900, (n) => `  k${n}: &a${n} .`)}`,
  `version: 1\nflags: { ${lines(20_000, (n) => `k${n}: 1,`)} }`,
];

/** ms from the start of a process to its end. */
function took(args: readonly string[]): number {
  const begin = performance.now();
  const { error } = spawnSync(process.execPath, args, { stdio: 'ignore' });
  if (error !== undefined) throw error;
  return performance.now() - begin;
}

const checked = (text: string): number => {
  writeFileSync(file, text);
  return took([main, 'check', file]);
};

/** Of each the least of three runs: what else the machine does is no part of it. The slowest of them. */
const slowest = (): number =>
  Math.max(...HOSTILE.map(({ text }) => Math.min(checked(text), checked(text), checked(text))));

export const suite: Suite = {
  name: 'manifest',
  cases: [
    {
      name: 'hob check of the costliest hostile manifests, beside node -e 0',
      unit: 'ms',
      n: 1,
      rounds: 20,
      ours: () => checked(texts[next++ % texts.length] ?? ''),
      peer: () => took(['-e', '0']),
      goal: { text: 'at most 100 ms beyond node -e 0', met: ({ ours, peer }) => ours - peer <= 100 },
    },
    {
      name: `the slowest of ${HOSTILE.length} hostile manifests, beside node -e 0`,
      unit: 'ms',
      n: 1,
      rounds: 1,
      slow: true,
      ours: slowest,
      peer: () => median(Array.from({ length: 20 }, () => took(['-e', '0']))),
      goal: { text: 'at most 100 ms beyond node -e 0', met: ({ ours, peer }) => ours - peer <= 100 },
    },
  ],
  close: async () => rmSync(folder, { recursive: true, force: true }),
};
