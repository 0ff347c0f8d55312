/** Starts the thread of a store in a process of its own. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { inherited } from '../../../../../test/mutants/environment.ts';

test('the thread of a store keeps its compiled modules in the cache of the program', () => {
  const folder = mkdtempSync(join(tmpdir(), 'hob-thread-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const module = (name: string): string => JSON.stringify(new URL(name, import.meta.url).href);
  const { NODE_COMPILE_CACHE: _, ...others } = inherited();
  /** Runs a program that loads the store and does `act`. Returns how many compiled modules are kept afterwards. */
  const keptAfter = (act: string): number => {
    const program = `
      import { enableCompileCache } from 'node:module';
      enableCompileCache(${JSON.stringify(join(folder, 'cache'))});
      const { openStore } = await import(${module('../store.ts')});
      ${act}`;
    execFileSync(process.execPath, ['--input-type=module', '-e', program], {
      env: { PATH: process.env['PATH'], ...others },
    });
    return readdirSync(folder, { recursive: true, withFileTypes: true }).filter((each) => each.isFile()).length;
  };
  const before = keptAfter('');
  expect(before).toBeGreaterThan(10);
  const open = `await (await openStore({ path: ${JSON.stringify(join(folder, 'state'))} })).close();`;
  rmSync(join(folder, 'state'), { recursive: true, force: true });
  const after = keptAfter(
    `${open} (await import('node:fs')).rmSync(${JSON.stringify(join(folder, 'state'))}, { recursive: true });`,
  );
  expect(after).toBeGreaterThan(before);
});
