import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readLines } from './lines.ts';

function fileOf(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'hob-lines-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'x');
  writeFileSync(file, text);
  return file;
}

async function linesOf(text: string, longest = 100_000): Promise<string[]> {
  const found: string[] = [];
  for await (const batch of readLines(fileOf(text), longest)) {
    for (const line of batch) found.push(Buffer.from(line).toString());
  }
  return found;
}

test('lines come whole over any border of what is read at once, with and without a last line break', async () => {
  const lines = Array.from({ length: 5000 }, (_, i) => `${i}:${'é'.repeat((i * 37) % 211)}`); // about 1 MB
  expect(await linesOf(`${lines.join('\n')}\n`)).toEqual(lines);
  expect(await linesOf(lines.join('\n'))).toEqual(lines);
  expect(await linesOf('\n\na\n')).toEqual(['', '', 'a']);
  expect(await linesOf('')).toEqual([]);
});

test('a file without line breaks does not fill the memory: reading ends soon after the longest line', async () => {
  const [only, ...more] = await linesOf('x'.repeat(3_000_000), 8192);
  expect(more).toEqual([]);
  expect(only?.length).toBeGreaterThan(8192);
  expect(only?.length).toBeLessThan(600_000);
});

test('who stops early leaves no descriptor', async () => {
  for await (const batch of readLines(fileOf('a\n'.repeat(1_000_000)), 10)) {
    expect(batch.length).toBeGreaterThan(0);
    break;
  }
});

test('a file that is not there is said to be so without its path', async () => {
  const reading = readLines('/nowhere/secret-name', 10).next();
  await expect(reading).rejects.toMatchObject({ code: 'unavailable', message: expect.not.stringContaining('secret') });
  await expect(readLines(tmpdir(), 10).next()).rejects.toMatchObject({ code: 'unavailable' });
});
