/**
 * Stores as each released version wrote them, opened by this one: whoever has such a store must not lose it.
 *
 * To add the next version: when `VERSION` of `store/sqlite.ts` or the text of a cell changes, first add to
 * `golden/kinds.ts` what is new, count `VERSION` up in `golden/make.ts`, run `node
 * packages/vat/golden/make.ts`, check the new folder in and name it in `versions`. The older folders stay as
 * they are, and so does what is looked for in them.
 */
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { asWritten, Bank, type Box, type Inbox, type Note, today, type Waiter } from '../../golden/kinds.ts';
import { table } from '../actor/table.ts';
import type { Far } from '../core/types.ts';
import { E } from '../eventual/eventual.ts';
import { verifyLedger } from '../ledger/verify.ts';
import { openStore } from '../store/store.ts';
import { driver } from '../turn/driver.ts';
import type { Vats } from '../vats/interface.ts';
import { openVats } from '../vats/vats.ts';

const versions = ['store-v2', 'store-v3', 'store-v4'] as const;
const GOLDEN = join(import.meta.dirname, '..', '..', 'golden');

async function opened(version: string, definitions = today) {
  const folder = join(mkdtempSync(join(tmpdir(), 'hob-golden-')), 'state');
  mkdirSync(folder);
  cpSync(join(GOLDEN, version), folder, { recursive: true });
  // A checkout knows no modes.
  chmodSync(folder, 0o700);
  for (const name of readdirSync(folder)) chmodSync(join(folder, name), 0o600);
  const store = await openStore({ path: folder });
  let vats: Vats | undefined;
  onTestFinished(async () => {
    await vats?.close();
    await store.close();
    rmSync(dirname(folder), { recursive: true });
  });
  vats = await openVats({ store, definitions });
  return { store, vats };
}

test('every golden store is here', () => {
  expect(readdirSync(GOLDEN).filter((name) => name.startsWith('store-'))).toEqual([...versions]);
});

test.each(versions)('%s is small, and as its process left it', (version) => {
  const files = readdirSync(join(GOLDEN, version)).sort();
  expect(files).toEqual(['ledger.key', 'store.db']);
  for (const file of files) expect(statSync(join(GOLDEN, version, file)).size).toBeLessThan(200_000);
});

test.each(versions)('%s opens, and everything is there', async (version) => {
  const { store, vats } = await opened(version);
  const vat = vats.vat('bank/münze %2F');
  const never = (): never => {
    throw new Error('it was there');
  };

  const bank = await vat.root<Bank>('bank', never);
  expect(await E(bank).names()).toEqual(['alice', 'bob/🙂']);
  expect(await E(E(bank).purse('alice')).balance()).toBe(10n ** 30n - 7n);
  expect(await E(E(bank).purse('bob/🙂')).balance()).toBe(12n);
  await E(E(bank).purse('alice')).deposit(2n, E(bank).purse('bob/🙂'));
  expect(await E(E(bank).purse('bob/🙂')).balance()).toBe(10n);

  const box = (await E(await vat.root<Box>('box', never)).held()) as Readonly<Record<string, unknown>>;
  expect(box['bank']).toBe(bank);
  expect(box['bytes']).toEqual(Uint8Array.of(0, 1, 255));
  expect(box['big']).toBe(-(2n ** 100n));
  expect(box['odd']).toEqual([
    undefined,
    null,
    Number.NaN,
    -0,
    Number.NEGATIVE_INFINITY,
    Symbol.for('sign'),
    '\0\ud800',
    { $: 1 },
    { $: ['u'] },
  ]);
  expect((box['error'] as Error).message).toBe('kept');
  const bell = box['outside'] as Far<{ ring(): string }>;
  driver<{ ring(): string }>({ ring: () => 'rung' }, { name: 'bell' });
  expect(await E(bell).ring()).toBe('rung');

  expect(await E(await vat.root<Note>('note', never)).say()).toBe('remember *');
  expect(await E(await vat.root<Waiter>('waiter', never)).heard()).toBe('restarted note');

  const inbox = await vats.vat('post').root<Inbox>('inbox', never);
  expect(await E(inbox).all()).toEqual(['first', [bank, Uint8Array.of(9)]]);
  expect((await verifyLedger(store)).ok).toBe(true);
  expect(await vats.sweep()).toBe(0);
});

test.each(versions)('%s also opens for the definitions that wrote it', async (version) => {
  const { vats } = await opened(version, asWritten);
  const bank = await vats.vat('bank/münze %2F').root('bank', () => Bank(table()));
  expect(await E(bank).names()).toEqual(['alice', 'bob/🙂']);
});
