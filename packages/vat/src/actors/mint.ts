/**
 * Money: a mint, and purses that can only move what it issued. After Miller's financial instruments and Goblins'
 * `simple-mint`; the example of what a turn's rollback is good for.
 *
 * Promise: no sequence of calls on purses changes the sum of all balances, a failing one included; only the mint makes
 * money; a purse takes money only from purses of its own mint. Amounts are whole numbers from 0 to 2^53 - 1.
 */
import { spawn } from '../actor/actor.ts';
import { CapError } from '../core/errors.ts';
import type { Definition } from '../core/types.ts';
import { define } from '../turn/portrait.ts';
import { attempt } from '../turn/turn.ts';
import { type Cell, makeCell } from './cell.ts';
import { isNear } from './opportunistic.ts';
import { makeSealers, type Seal, type Sealed, type Unseal } from './sealers.ts';

export interface Purse {
  balance(): number;
  /** Moves `amount` here from another purse of the same mint; all of it or nothing. */
  deposit(amount: number, from: Purse): void;
  /** An empty purse of the same mint. */
  sprout(): Purse;
  /** Takes money out, sealed: only purses of the same mint can open and use it. */
  taker(): Sealed<Taker>;
}

export interface Mint {
  /** A purse with new money in it. */
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
      // A caller that catches the error goes on in the same turn: he, too, must not find half of it done.
      attempt(() => {
        checkAmount(amount);
        if (!isNear(from)) throw new CapError('invalid', 'money comes from a purse of the same mint and the same vat');
        unseal(from.taker())(amount);
        // Read only now: `from` may be this purse.
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

/** Who holds the mint makes money; each mint is a currency of its own. */
export function makeMint(): Mint {
  const [seal, unseal] = makeSealers<Taker>();
  return spawn(Mint(seal, unseal));
}
