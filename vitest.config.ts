/**
 * Two regimes: `locked` (hardened intrinsics) and `plain` (`ses` imported, no lockdown).
 *
 * The two lowest packages promise to work in both; `plain` runs their files that can differ. The others run where their
 * entry points run, locked down. The tests of the house look at files and processes: plain.
 *
 * `test/tiers.ts` says which files run when, and which do not share a process with others.
 */
import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { deepStack } from './scripts/stack.mjs';
import { mutated } from './test/mutants/plugin.ts';
import { LongestFirst } from './test/sequencer.ts';
import { differInPlain, filesOf, ownProcess, sameInNative, sameInPlain } from './test/tiers.ts';

const tier = process.env['HOB_TIER'];
// Modes of files that tests make and look at do not depend on who runs them. The processes of tests inherit it.
process.umask(0o022);
const directories = ['packages/caps-fs/src/**/*.test.ts'];
const locked = ['packages/*/src/**/*.test.ts', '{examples,test-bisim,bench}/**/*.test.ts'];
const house = ['test/*.test.ts', 'packages/*/crash/*.test.ts'];
// `check` is quick: it runs each file once.
const twice = tier !== 'check';

/** A regime is two projects: the files that share a process, and those that have one each. */
function regime(name: string, files: readonly string[], env: Record<string, string>, setupFiles: readonly string[]) {
  const alone = new Set(filesOf(undefined, ownProcess));
  const project = (own: boolean) => ({
    extends: true as const,
    test: {
      name: own ? `${name}, own process` : name,
      include: files.filter((file) => alone.has(file) === own),
      isolate: own,
      env,
      setupFiles: ['./test/leaks.ts', ...setupFiles, './test/chance.ts'],
    },
  });
  return [project(false), project(true)].filter(({ test }) => test.include.length > 0);
}

// Over Node alone where nothing else is said: `native` is a regime of its own.
const proc = { CAPS_FS_BACKEND: 'proc' };
const native = { CAPS_FS_BACKEND: 'native' };

// `npm test` sets it and reads the counts from there; by hand vitest's own summary is enough.
const report = process.env['HOB_TEST_REPORT'];

export default defineConfig({
  plugins: await mutated(),
  test: {
    fsModuleCache: true,
    pool: 'forks',
    // About half of the time of a test here goes by waiting for processes and disks.
    maxWorkers: availableParallelism() * 2,
    // These end what hangs. They are no measure of speed: a busy machine gets its time.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    execArgv: ['--expose-gc', ...deepStack()],
    // A forgotten `test.only` would leave out everything else and still be green.
    allowOnly: report === undefined,
    sequence: { sequencer: LongestFirst },
    reporters: report === undefined ? ['default'] : ['default', ['./test/reporter.ts', { report }]],
    projects: [
      ...regime('locked', filesOf(tier, locked), proc, ['./test/lockdown.ts', './test/closed-vats.ts']),
      // The tests of directories once more, over the C part of `caps-fs`; skipped with the reason where it is not built.
      ...regime('native', twice ? filesOf(tier, directories, sameInNative) : [], native, [
        './test/lockdown.ts',
        './packages/caps-fs/test/native.ts',
      ]),
      ...regime('plain', filesOf(tier, [...(twice ? differInPlain : []), ...house], sameInPlain), proc, [
        './test/plain.ts',
      ]),
    ],
  },
});
