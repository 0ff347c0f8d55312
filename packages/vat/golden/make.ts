/**
 * `node packages/vat/golden/make.ts`: writes the golden store of this version beside this file, once, before a release.
 *
 * `golden.test.ts` looks for everything in it. A store that is here is never written again: it stands for those that are out there.
 */
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { driver, E, openStore, openVats, promise, spawn, table } from '../src/index.ts';
import { asWritten, Bank, Box, Inbox, OldNote, Purse, Waiter } from './kinds.ts';

const VERSION = 4; // of `store/sqlite.ts`
const folder = join(import.meta.dirname, `store-v${VERSION}`);
if (existsSync(folder)) throw new Error(`${folder} is there already: it is never written again`);

const store = await openStore({ path: folder });
const vats = await openVats({ store, definitions: asWritten });
const vat = vats.vat('bank/münze %2F');
const outside = driver<{ ring(): void }>({ ring: () => {} }, { name: 'bell' });
const bank = await vat.root('bank', () => {
  const purses = table<Purse>();
  purses.set('alice', spawn(Purse(10n ** 30n)));
  purses.set('bob/🙂', spawn(Purse(5n)));
  return Bank(purses);
});
await E(E(bank).purse('bob/🙂')).deposit(7n, E(bank).purse('alice'));
await vat.root('box', () =>
  Box({
    bank,
    outside,
    bytes: Uint8Array.of(0, 1, 255),
    big: -(2n ** 100n),
    odd: [
      undefined,
      null,
      Number.NaN,
      -0,
      Number.NEGATIVE_INFINITY,
      Symbol.for('sign'),
      '\0\ud800',
      { $: 1 },
      { $: ['u'] },
    ],
    error: new RangeError('kept'),
  }),
);
await vat.root('note', () => OldNote('remember'));
const waiter = await vat.root('waiter', () => Waiter(''));
await E(waiter).wait(promise<unknown>().promise);
const inbox = await vats.vat('post').root('inbox', () => Inbox([]));
await vat
  .turn(() => {
    E.sendOnly(inbox as unknown as Inbox).put('first');
    E.sendOnly(inbox as unknown as Inbox).put([bank, Uint8Array.of(9)], promise<unknown>().promise);
    // Closed before they are delivered: they stay in the store.
    void vats.close();
  })
  .catch(() => {});
await vats.close();
await store.close();
rmSync(join(folder, 'reserve'), { force: true }); // made again at each opening
