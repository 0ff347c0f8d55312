/** The whole story, and that each step would be missed. */
import { expect, test } from 'vitest';
import { sabotages } from './demo.ts';
import { Program } from './processes.ts';

async function play(...args: readonly string[]): Promise<{ code: number | string; lines: readonly string[] }> {
  const program = new Program('main.ts', ['--demo', ...args]);
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
