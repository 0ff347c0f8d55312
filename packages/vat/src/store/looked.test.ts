/** A store that is opened to be read: nothing is written, and the error of a damaged one names no file. */
import { closeSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ledgerLine } from '../index.ts';
import { verifyLedger } from '../ledger/verify.ts';
import { openVats } from '../vats/vats.ts';
import { lookAtStore, openStore } from './store.ts';

/** Returns a folder with a store of 200 lines that no process has open. */
async function kept(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'hob-looked-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'state');
  const store = await openStore({ path });
  const vats = await openVats({ store });
  await vats.vat('a').turn(() => {
    for (let n = 0; n < 200; n += 1) ledgerLine('call', { session: 'a', method: 'x'.repeat(200), count: n });
  });
  await vats.settled();
  await vats.close();
  await store.close();
  return path;
}

const contentOf = (path: string): readonly string[] =>
  readdirSync(path).sort().map((name) => `${name} ${readFileSync(join(path, name)).toString('base64')}`); // biome-ignore format: one line

test('a store that is opened to be read can be verified, changes no file, and cannot have vats', async () => {
  const path = await kept();
  const before = contentOf(path);
  for (const open of [async () => lookAtStore({ path }), () => openStore({ path, look: true })]) {
    await using store = await open();
    expect(await verifyLedger(store)).toMatchObject({ ok: true, lines: 202 });
    await expect(openVats({ store })).rejects.toMatchObject({ code: expect.any(String) });
  }
  expect(contentOf(path)).toEqual(before);
});

test('an empty file is no store: whoever only looks is told so, and nothing is made beside it', () => {
  const path = mkdtempSync(join(tmpdir(), 'hob-looked-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  writeFileSync(join(path, 'store.db'), '');
  expect(() => lookAtStore({ path })).toThrow(expect.objectContaining({ code: 'invalid' }));
  expect(contentOf(path)).toEqual(['store.db ']);
});

test('the error of a store with changed pages says that it is damaged, and does not name its path', async () => {
  const path = await kept();
  const file = join(path, 'store.db');
  const { length } = readFileSync(file);
  const descriptor = openSync(file, 'r+');
  // Changes all pages but the first, which has the definitions of the tables.
  for (let at = 4096; at < length; at += 4096) writeSync(descriptor, Buffer.alloc(4096, 0x5a), 0, 4096, at);
  closeSync(descriptor);
  const look = async () => {
    await using store = lookAtStore({ path });
    await verifyLedger(store);
  };
  const error: Error = await look().then(
    () => expect.fail('a damaged store verifies'),
    (why) => why,
  );
  expect(error).toMatchObject({ code: 'invalid', message: expect.stringMatching(/^this store is damaged/) });
  expect(String(error.stack)).not.toContain(path);
});
