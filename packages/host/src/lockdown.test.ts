/** A program of a user's own that opens a host, with and without the first line. */
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Program } from '../../../test/processes.ts';
import { scratch } from '../test/test-host.ts';

async function run(...program: readonly string[]): Promise<readonly [ended: number | string, said: string]> {
  const folder = scratch();
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'try.ts');
  writeFileSync(file, program.join('\n').replaceAll("'./state'", JSON.stringify(join(folder, 'state'))));
  const started = new Program(file, []);
  const ended = await started.ended;
  if (ended !== 0) expect(readdirSync(folder)).toEqual(['try.ts']);
  return [ended, started.lines.join('\n')];
}

const ses = ['ses/index.js', '@endo/eventual-send/shim.js'].map(
  (file) => `import ${JSON.stringify(join(import.meta.dirname, '../../../node_modules', file))};`,
);
const locks = "import '@hob/host/lockdown';";
const opens = `import { openHost } from '@hob/host';
const open = (more = {}) => openHost({ stateDir: './state', ...more });`;
const tells = 'const host = await open().catch((error) => process.exit(console.log(error.code, error.message) ?? 3));';
const closes = "await host.close(); console.log('opened');";

test('without the lockdown import openHost is refused, the error names the missing line, and nothing is created', async () => {
  const [ended, said] = await run(opens, tells, closes);
  expect([ended, said]).toEqual([3, expect.stringMatching(/^E_NO_LOCKDOWN .*import '@hob\/host\/lockdown'/)]);
  // The needs of Endo's libraries, and a set-up that a user takes for lockdown.
  const half = await run(...ses, 'Object.freeze(Object.prototype);', opens, tells, closes);
  expect(half).toEqual([3, expect.stringMatching(/^E_NO_LOCKDOWN /)]);
});

test('with the lockdown import, in a process that is locked down already, or with withoutLockdown, openHost opens', async () => {
  expect(await run(locks, opens, tells, closes)).toEqual([0, 'opened']);
  expect(await run("import '@hob/vat/lockdown';", locks, opens, tells, closes)).toEqual([0, 'opened']);
  const own = [...ses, "lockdown({ overrideTaming: 'severe' });"];
  const late = 'const { openHost } = await import("@hob/host"); await import("@hob/host/lockdown");';
  const host = "const host = await openHost({ stateDir: './state' });";
  expect(await run(...own, late, host, closes)).toEqual([0, 'opened']);
  expect(await run(opens, 'const host = await open({ withoutLockdown: true });', closes)).toEqual([0, 'opened']);
});

test('a module that is loaded after the lockdown cannot change an intrinsic under the host', async () => {
  const attack = `const tried = [];
for (const [object, name] of [[Map.prototype, 'get'], [Array.prototype, 'some'], [Promise.prototype, 'then'], [globalThis.Object, 'is'], [Object.prototype, 'granters']])
  try { object[name] = () => true; tried.push('changed ' + name); } catch (error) { tried.push(error.name); }
console.log(tried.join(' '));`;
  expect(await run(locks, attack)).toEqual([0, 'TypeError TypeError TypeError TypeError TypeError']);
  expect((await run(attack))[1]).toMatch(/^changed get changed some/);
});
