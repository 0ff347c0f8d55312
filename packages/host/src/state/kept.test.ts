/** Texts that the program keeps in the store of its host. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { code, lines, scratch } from '../../test/test-host.ts';
import { openHost } from '../index.ts';

test('texts are kept over a restart; a change under another key than the one that was read does nothing; the ledger has names only', async () => {
  const folder = scratch();
  const stateDir = join(folder, 'state');
  let host = await openHost({ stateDir });
  onTestFinished(async () => {
    await host.close();
    rmSync(folder, { recursive: true });
  });
  const by = { by: 'owner', surface: 'program' };
  expect(await host.kept()).toEqual({ texts: {} });
  const first = await host.kept({ what: 'set', set: { A: 'INTIMATE' }, under: 'k1', ...by });
  expect(first).toEqual({ under: 'k1', texts: { A: 'INTIMATE' } });
  for (const was of [undefined, 'k0'])
    expect(await code(host.kept({ what: 'set', set: { A: 'other', B: 'x' }, was, under: 'k0', ...by }))).toBe('STALE');
  expect(await code(host.kept({ what: 'remove', remove: ['B'], was: 'k1', under: 'k1', ...by }))).toBe(
    'no-such-object',
  );
  for (const name of ['', 'a b', '__proto__', 'x'.repeat(64)])
    expect(await code(host.kept({ what: 'set', set: Object.fromEntries([[name, 'x']]), was: 'k1', under: 'k1', ...by }))).toBe('invalid'); // biome-ignore format: one line
  await host.close();
  host = await openHost({ stateDir });
  expect(await host.kept()).toEqual(first);
  await host.kept({ what: 'rotate', set: { A: 'INTIMATE-2' }, was: 'k1', under: 'k2', ...by });
  await host.kept({ what: 'remove', remove: ['A'], was: 'k2', ...by });
  expect(await host.kept()).toEqual({ texts: {} });
  const told = await lines(host, 'secret');
  expect(told.map(({ what, name }) => `${what} ${name}`)).toEqual(['set A', 'rotate *', 'remove A']);
  expect(JSON.stringify(told)).not.toContain('INTIMATE');
});
