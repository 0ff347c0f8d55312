/**
 * Two regimes: `locked` (hardened intrinsics) and `plain` (`ses` imported, no lockdown).
 *
 * The two lowest packages promise to work in both and are tested in both. The others run where their entry points run,
 * locked down. The tests of the house look at files and processes: plain.
 */
import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { mutated } from './test/mutants/plugin.ts';

const inBoth = ['packages/{vat,revocable}/src/**/*.test.ts'];
const directories = ['packages/caps-fs/src/**/*.test.ts'];
const locked = ['packages/*/src/**/*.test.ts', '{examples,test-bisim,bench}/**/*.test.ts'];
const house = ['test/*.test.ts', 'packages/*/crash/*.test.ts'];

const regime = (name: string, include: string[], setUp: string) => ({
  extends: true as const,
  // Over Node alone where nothing else is said: `native` is a regime of its own.
  test: { name, include, env: { CAPS_FS_BACKEND: 'proc' }, setupFiles: ['./test/leaks.ts', setUp, './test/chance.ts'] },
});

/** The tests of directories once more, over the C part of `caps-fs`; they are skipped, with the reason, where it is not built. */
const native = {
  extends: true as const,
  test: {
    name: 'native',
    include: directories,
    // These go over both by themselves.
    exclude: ['packages/caps-fs/src/{escapes,race}-*.test.ts'],
    env: { CAPS_FS_BACKEND: 'native' },
    setupFiles: ['./test/leaks.ts', './test/lockdown.ts', './test/chance.ts', './packages/caps-fs/test/native.ts'],
  },
};

// `npm test` sets it and reads the counts from there; by hand vitest's own summary is enough.
const report = process.env['HOB_TEST_REPORT'];

export default defineConfig({
  plugins: await mutated(),
  test: {
    // The cache does not know of mutants: a run without one would find the changed text there.
    fsModuleCache: !process.env['HOB_MUTANT'],
    pool: 'forks',
    // Vitest leaves one core free; much of what is tested here waits for processes and disks.
    maxWorkers: availableParallelism(),
    exclude: ['**/node_modules/**', '**/dist/**', 'test/fixtures/**'],
    // These end what hangs. They are no measure of speed: a busy machine gets its time.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    execArgv: ['--expose-gc'],
    // A forgotten `test.only` would leave out everything else and still be green.
    allowOnly: report === undefined,
    reporters: report === undefined ? ['default'] : ['default', ['./test/reporter.ts', { report }]],
    projects: [
      regime('locked', locked, './test/lockdown.ts'),
      native,
      regime('plain', [...inBoth, ...house], './test/plain.ts'),
    ],
  },
});
