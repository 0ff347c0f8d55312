/** Runs the demo as it is, without the sandbox, and with each mechanism left out. */
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { Program } from '../../test/processes.ts';
import { sabotages } from './demo.ts';

const checkout = join(import.meta.dirname, '../..');
const play = (args: readonly string[] = ['--demo'], root = checkout): Promise<Played> =>
  watch(new Program(join(root, 'examples/demo/main.ts'), args));

// A user's first run: nothing is in the home folder.
let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'hob-home-'));
  vi.stubEnv('HOME', home);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(home, { recursive: true, force: true });
});

interface Played {
  readonly code: number | string;
  readonly lines: readonly string[];
}

async function watch(program: Program): Promise<Played> {
  const code = await program.ended;
  return { code, lines: program.lines };
}

/** Each step that failed, with what it saw instead. */
const failed = (lines: readonly string[]): string[] =>
  lines.flatMap((line, i) => (line.trim().startsWith('FAILED') ? [`${line.trim()}: ${lines[i + 1]?.trim()}`] : []));

test('the demo passes, step by step', async () => {
  const { code, lines } = await play();
  expect(failed(lines)).toEqual([]);
  expect(lines.at(-1)).toMatch(/^All \d\d steps came out as they must\.$/);
  expect(code).toBe(0);
});

test('where no C compiler built the sandbox it passes, and says that no program runs, and why', async () => {
  const copy = mkdtempSync(join(tmpdir(), 'hob-bare-'));
  onTestFinished(() => rmSync(copy, { recursive: true, force: true }));
  const isLeft = (path: string): boolean => !/\/packages\/(?:[^/]+\/build|bridge-python)$/.test(path);
  for (const folder of ['packages', 'examples', 'scripts', 'test'])
    cpSync(join(checkout, folder), join(copy, folder), { recursive: true, verbatimSymlinks: true, filter: isLeft });
  symlinkSync(join(checkout, 'node_modules'), join(copy, 'node_modules'));
  const { code, lines } = await play(['--demo'], copy);
  expect(failed(lines)).toEqual([]);
  expect(lines.at(-1)).toMatch(/^All \d\d steps came out as they must\.$/);
  expect(lines[lines.findIndex((line) => line.includes('without a sandbox no program runs')) + 1]).toMatch(
    /--code needs a sandbox, and none can be built here .* C compiler/,
  );
  expect(code).toBe(0);
});

test('an option that it does not take is one line', async () => {
  for (const args of [
    ['--sabotage', 'limit'],
    ['--demo', '--sabotage', 'nothing'],
    ['--demo', '--root', '.'],
  ]) {
    const { code, lines } = await play(args);
    expect(code).toBe(1);
    expect(lines).toEqual([expect.stringMatching(/^(?:hob|error): [^\n]+$/)]);
  }
});

// The whole demo plays for each of them, so there are others each day; `npm run mutants` judges the same rows.
test('with a mechanism left out it fails, and names the step (two mechanisms each day)', async () => {
  const all = Object.entries(sabotages);
  const day = Math.floor(Date.now() / 86_400_000);
  const left = [all[(2 * day) % all.length], all[(2 * day + 1) % all.length]] as typeof all;
  expect(left.every((one) => one !== undefined)).toBe(true);
  const work = async (): Promise<void> => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      const [sabotage, step] = next;
      const { code, lines } = await play(['--demo', `--sabotage=${sabotage}`]);
      expect(code, sabotage).toBe(1);
      expect(failed(lines).join('\n'), sabotage).toContain(step);
      expect(lines.at(-1), sabotage).toContain(step);
    }
  };
  await Promise.all([work(), work()]);
}, 400_000);
