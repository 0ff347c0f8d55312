/**
 * Stores as each released version wrote them, opened by this one: whoever has such a store must not lose it.
 *
 * To add the next version: when `VERSION` of `store/sqlite.ts` or the text of a cell changes, first add to
 * `golden/kinds.ts` what is new, count `VERSION` up in `golden/make.ts`, run `node
 * packages/vat/golden/make.ts`, check the new folder in and name it in `folders`. The older folders stay as
 * they are, and so does what is looked for in them. For PostgreSQL the same with `VERSION` of
 * `store-postgres/src/schema.ts`, `node test/golden/make-postgres.ts` and `dumps`.
 */
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { FOLDER, openGolden } from '../../../../test/golden/postgres.ts';
import { requires } from '../../../../test/needs.ts';
import { serverOfFile } from '../../../../test/postgres-cluster.ts';
import { asWritten, Bank, type Box, type Inbox, type Note, oddValues, today, type Waiter } from '../../golden/kinds.ts';
import { table } from '../actor/table.ts';
import type { Far } from '../core/types.ts';
import { E } from '../eventual/eventual.ts';
import { verifyLedger } from '../ledger/verify.ts';
import { openStore, type Store } from '../store/store.ts';
import { driver } from '../turn/driver.ts';
import type { Vats } from '../vats/interface.ts';
import { openVats } from '../vats/vats.ts';

const folders = ['store-v2', 'store-v3', 'store-v4'] as const;
const dumps = ['store-v1', 'store-v2', 'store-v3'] as const;
const GOLDEN = join(import.meta.dirname, '..', '..', 'golden');

const onServer = requires('postgres');
const server = serverOfFile(onServer);

interface Golden {
  readonly testing: (name: string, body: () => Promise<void>) => void;
  /** Opens a copy; `remove` removes it when it is closed. */
  open(): Promise<{ readonly store: Store; remove(): void }>;
}
let databases = 0;
const golden: Readonly<Record<string, Golden>> = Object.fromEntries([
  ...folders.map((name): [string, Golden] => [name, { testing: test, open: () => fromFolder(name) }]),
  ...dumps.map((name): [string, Golden] => [
    `${name} in PostgreSQL`,
    {
      testing: onServer,
      open: async () => ({
        store: await openGolden(server.cluster, name, `golden_${(databases += 1)}`),
        remove: () => {},
      }),
    },
  ]),
]);

async function fromFolder(version: string): ReturnType<Golden['open']> {
  const folder = join(mkdtempSync(join(tmpdir(), 'hob-golden-')), 'state');
  mkdirSync(folder);
  cpSync(join(GOLDEN, version), folder, { recursive: true });
  // A checkout knows no modes.
  chmodSync(folder, 0o700);
  for (const name of readdirSync(folder)) chmodSync(join(folder, name), 0o600);
  return { store: await openStore({ path: folder }), remove: () => rmSync(dirname(folder), { recursive: true }) };
}

async function opened({ open }: Golden, definitions = today) {
  const { store, remove } = await open();
  let vats: Vats | undefined;
  onTestFinished(async () => {
    await vats?.close();
    await store.close();
    remove();
  });
  vats = await openVats({ store, definitions });
  return { store, vats };
}

test('every golden store is here', () => {
  expect(readdirSync(GOLDEN).filter((name) => name.startsWith('store-'))).toEqual([...folders]);
  expect(readdirSync(FOLDER)).toEqual(dumps.map((name) => `${name}.sql`));
  for (const file of readdirSync(FOLDER)) expect(statSync(join(FOLDER, file)).size).toBeLessThan(200_000);
});

test.each(folders)('%s is small, and as its process left it', (version) => {
  const files = readdirSync(join(GOLDEN, version)).sort();
  expect(files).toEqual(['ledger.key', 'store.db']);
  for (const file of files) expect(statSync(join(GOLDEN, version, file)).size).toBeLessThan(200_000);
});

for (const [name, each] of Object.entries(golden)) {
  each.testing(`${name} opens, and everything is there`, async () => {
    const { store, vats } = await opened(each);
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
    expect(box['odd']).toEqual(oddValues);
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

  each.testing(`${name} also opens for the definitions that wrote it`, async () => {
    const { vats } = await opened(each, asWritten);
    const bank = await vats.vat('bank/münze %2F').root('bank', () => Bank(table()));
    expect(await E(bank).names()).toEqual(['alice', 'bob/🙂']);
  });
}
