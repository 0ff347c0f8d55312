/** What each golden store holds, whatever it lies on. */
import { driver, E, openVats, promise, type Store, spawn, table } from '../src/index.ts';
import { asWritten, Bank, Box, Inbox, OldNote, oddValues, Purse, Waiter } from './kinds.ts';

/** Writes everything into a new store, and closes it. */
export async function writeGolden(store: Store): Promise<void> {
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
      odd: oddValues,
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
}
