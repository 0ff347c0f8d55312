/** The whole story, and that each step would be missed. */
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { sabotages } from './demo.ts';
import { Program } from './processes.ts';

const play = (...args: readonly string[]): Promise<Played> => watch(new Program('main.ts', ['--demo', ...args]));

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
  const checkout = join(import.meta.dirname, '../../../../..');
  const isLeft = (path: string): boolean => !/\/packages\/(?:[^/]+\/build|bridge-python)$/.test(path);
  for (const folder of ['packages', 'examples', 'scripts'])
    cpSync(join(checkout, folder), join(copy, folder), { recursive: true, verbatimSymlinks: true, filter: isLeft });
  symlinkSync(join(checkout, 'node_modules'), join(copy, 'node_modules'));
  const { code, lines } = await watch(new Program(join(copy, 'packages/host/src/programs/main.ts'), ['--demo']));
  expect(failed(lines)).toEqual([]);
  expect(lines.at(-1)).toMatch(/^All \d\d steps came out as they must\.$/);
  expect(lines[lines.findIndex((line) => line.includes('without a sandbox no program runs')) + 1]).toMatch(
    /refused: E_SANDBOX_UNAVAILABLE: .* install a C compiler/,
  );
  expect(code).toBe(0);
});

test('with a mechanism left out it fails, and names the step', async () => {
  const left = Object.entries(sabotages);
  const work = async (): Promise<void> => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      const [sabotage, step] = next;
      const { code, lines } = await play(`--sabotage=${sabotage}`);
      expect(code, sabotage).toBe(1);
      expect(failed(lines).join('\n'), sabotage).toContain(step);
      expect(lines.at(-1), sabotage).toContain(step);
    }
  };
  await Promise.all([work(), work()]);
}, 400_000);
