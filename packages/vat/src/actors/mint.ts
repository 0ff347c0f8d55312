/**
 * Money: a mint, and purses that can only move money the mint issued. After Miller's financial instruments
 * and Goblins' `simple-mint`. It is also the example of how a turn's rollback is used.
 *
 * Promise: no sequence of calls on purses, failing ones included, changes the sum of all balances. Only the
 * mint makes money. A purse accepts money only from purses of its own mint. Amounts are whole numbers from 0
 * to 2^53 - 1.
 */
import { spawn } from '../actor/actor.ts';
import { CapError } from '../core/errors.ts';
import type { Definition } from '../core/types.ts';
import { define } from '../turn/portrait.ts';
import { attempt } from '../turn/turn.ts';
import { type Cell, makeCell } from './cell.ts';
import { isNear } from './opportunistic.ts';
import { makeSealers, type Seal, type Sealed, type Unseal } from './sealers.ts';

/**
 * Holds money of one mint: whole amounts of 0 or more. Errors: `exhausted` (it holds less), `denied` (money
 * of another mint), `invalid` (no amount, or a purse of another vat).
 */
export interface Purse {
  balance(): number;
  /** Moves `amount` here from another purse of the same mint, all of it or nothing. */
  deposit(amount: number, from: Purse): void;
  /** Makes an empty purse of the same mint. */
  sprout(): Purse;
  /** Returns a sealed function that takes money out. Only purses of the same mint can open it. */
  taker(): Sealed<Taker>;
}

/** Issues money. Its holder alone decides how much there is. */
export interface Mint {
  /** Makes a purse with new money in it. */
  issue(amount: number): Purse;
}

/** Takes money out of one purse. */
export type Taker = (amount: number) => void;

export const Taker: Definition<Taker, [balance: Cell<number>]> = define('Taker', (_bcom, balance) => (amount) => {
  const left = balance.read() - amount;
  if (left < 0) throw new CapError('exhausted', 'the purse holds less than that: take a smaller amount');
  balance.write(left);
});

export const Purse: Definition<Purse, [balance: Cell<number>, seal: Seal<Taker>, unseal: Unseal<Taker>]> = define(
  'Purse',
  (_bcom, balance, seal, unseal) => ({
    balance: () => balance.read(),
    deposit: (amount, from) =>
      // A caller that catches the error continues in the same turn, and must not find the transfer half done.
      attempt(() => {
        checkAmount(amount);
        if (!isNear(from))
          throw new CapError('invalid', 'take the money from a purse of the same mint in the same vat');
        unseal(from.taker())(amount);
        // Read only after the withdrawal: `from` may be this purse.
        const sum = balance.read() + amount;
        if (!Number.isSafeInteger(sum)) throw new CapError('limit', 'the purse is full: use another one');
        balance.write(sum);
      }),
    sprout: () => spawn(Purse(makeCell(0), seal, unseal)),
    taker: () => seal(spawn(Taker(balance))),
  }),
);

export const Mint: Definition<Mint, [seal: Seal<Taker>, unseal: Unseal<Taker>]> = define(
  'Mint',
  (_bcom, seal, unseal) => ({
    issue(amount) {
      checkAmount(amount);
      return spawn(Purse(makeCell(amount), seal, unseal));
    },
  }),
);

function checkAmount(amount: unknown): void {
  if (!Number.isSafeInteger(amount) || (amount as number) < 0) {
    throw new CapError('invalid', 'an amount is a whole number from 0 to 2^53 - 1');
  }
}

/** The holder of the mint can make money. Each mint is a currency of its own. */
export function makeMint(): Mint {
  const [seal, unseal] = makeSealers<Taker>();
  return spawn(Mint(seal, unseal));
}
