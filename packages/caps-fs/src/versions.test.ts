/** Versions: the same in the next process, and nobody else's business. */
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { expect, test } from 'vitest';
import { backends, lacks } from '../test/backends.ts';
import { code, scratch } from '../test/scratch.ts';
import { openFsCap } from './index.ts';

const child = new URL('../test/versions-child.ts', import.meta.url).pathname;
const hooks = new URL('../../../scripts/resolve.mjs', import.meta.url).pathname;

for (const backend of backends) {
  const lacking = await lacks(backend);
  test(`${backend}: a version that was told before a restart is known after it`, async (context) => {
    if (lacking !== undefined) context.skip(lacking);
    await using s = await scratch();
    fs.writeFileSync(s.at('f'), 'content');
    const ask = (...key: string[]): { version: string; written: string } => {
      const child_ = ['--no-warnings', '--import', hooks, child, s.at('.'), backend, ...key];
      return JSON.parse(execFileSync(process.execPath, child_).toString());
    };
    const { version } = ask();
    expect(ask().version).toBe(version);
    // The backends agree, too.
    expect((await s.cap.stat('f')).version).toBe(version);
    const key = 'a secret of the program, which nobody else knows';
    const other = ask(key).version;
    expect(other).not.toBe(version);
    expect(ask(key).version).toBe(other);
    fs.writeFileSync(s.at('v'), version);
    expect(ask().written).toBe('ok');
    expect(ask().written).toBe('STALE');
  });
}

test('a key that could be guessed is refused', async () => {
  await using s = await scratch();
  expect(await code(openFsCap(s.at('.'), { versionKey: 'short' }))).toBe('invalid');
  expect(await code(openFsCap(s.at('.'), { versionKey: 7 as never }))).toBe('invalid');
});
