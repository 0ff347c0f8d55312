import { expect, onTestFinished, test } from 'vitest';
import { attempt, type Definition, define, E, openVats, spawn, type Vats } from '../index.ts';
import { facet } from './facet.ts';
import { makeMint, type Purse, type Taker } from './mint.ts';
import { makeSealers, type Sealed } from './sealers.ts';

async function open(): Promise<Vats> {
  const vats = await openVats();
  onTestFinished(() => vats.close());
  return vats;
}

async function bank() {
  const vats = await open();
  const vat = vats.vat('bank');
  const made = await vat.turn(() => {
    const mint = makeMint();
    return { mint, alice: mint.issue(100), bob: mint.issue(20) };
  });
  const balances = async () => [await E(made.alice).balance(), await E(made.bob).balance()];
  return { vats, vat, ...made, balances };
}

const coded = (code: string): unknown => expect.objectContaining({ code });

test('a deposit moves money, and a sprout is empty', async () => {
  const { alice, bob, balances } = await bank();
  await E(bob).deposit(30, alice);
  expect(await balances()).toEqual([70, 50]);
  const carol = E(alice).sprout();
  expect(await E(carol).balance()).toBe(0);
  await E(carol).deposit(70, alice);
  expect([await E(carol).balance(), ...(await balances())]).toEqual([70, 0, 50]);
});

test('a deposit of more than there is changes nothing', async () => {
  const { alice, bob, balances } = await bank();
  await expect(E(bob).deposit(101, alice)).rejects.toMatchObject({ code: 'exhausted' });
  expect(await balances()).toEqual([100, 20]);
});

test('a turn of several transfers of which the last fails moved nothing', async () => {
  const { vat, alice, bob, balances } = await bank();
  const failing = vat.turn(() => {
    const [from, to] = [alice, bob] as unknown as [Purse, Purse];
    for (let i = 0; i < 6; i += 1) to.deposit(20, from);
  });
  await expect(failing).rejects.toMatchObject({ code: 'exhausted' });
  expect(await balances()).toEqual([100, 20]);
});

test('a turn that catches the error does not find half a transfer', async () => {
  const { vat, mint, alice, balances } = await bank();
  await vat.turn(() => {
    const full = (mint as unknown as ReturnType<typeof makeMint>).issue(Number.MAX_SAFE_INTEGER);
    // The money is out of Alice's purse when the other one turns out to be full.
    expect(() => full.deposit(1, alice as unknown as Purse)).toThrow(coded('limit') as Error);
    expect(full.balance()).toBe(Number.MAX_SAFE_INTEGER);
  });
  expect(await balances()).toEqual([100, 20]);
});

test('no other amount is one: negative, fractional, not a number, too large, text, big', async () => {
  const { mint, alice, bob, balances } = await bank();
  const amounts: unknown[] = [-1, -0.5, 0.5, 1e-9, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  amounts.push(2 ** 53, Number.MAX_VALUE, '5', ' 1 ', null, undefined, true, [5], 5n, { valueOf: 5 });
  for (const amount of amounts) {
    await expect(E(bob).deposit(amount as number, alice)).rejects.toMatchObject({ code: 'invalid' });
    await expect(E(mint).issue(amount as number)).rejects.toMatchObject({ code: 'invalid' });
  }
  await E(bob).deposit(-0, alice);
  expect(await balances()).toEqual([100, 20]);
});

test('a deposit from itself makes nothing, and more than it holds is refused as ever', async () => {
  const { alice, balances } = await bank();
  await E(alice).deposit(40, alice);
  expect(await balances()).toEqual([100, 20]);
  await expect(E(alice).deposit(101, alice)).rejects.toMatchObject({ code: 'exhausted' });
  expect(await balances()).toEqual([100, 20]);
});

/** Claims to be a purse and reports an invented balance. */
const Counterfeit: Definition<Purse, [box: Sealed<Taker>]> = define('Purse', (bcom, box) => ({
  balance: () => 1_000_000,
  deposit: () => {},
  sprout: () => bcom.self,
  taker: () => box,
}));
const Generous: Definition<Taker, []> = define('Generous', () => () => {});
/** Moves all the money it can while it is asked for money. */
const Reentrant: Definition<Purse, [victim: Purse, genuine: Purse]> = define('Reentrant', (bcom, victim, genuine) => ({
  balance: () => 0,
  deposit: () => {},
  sprout: () => bcom.self,
  taker() {
    victim.deposit(10, genuine);
    victim.deposit(5, victim);
    return genuine.taker();
  },
}));

test('a counterfeit purse, one of another mint, and what is no purse at all pay nothing', async () => {
  const { vats, vat, alice, balances } = await bank();
  const { others } = await vat.turn(() => {
    const [seal] = makeSealers<Taker>();
    const forged = spawn(Counterfeit(seal(spawn(Generous()))));
    return { others: [forged, makeMint().issue(1_000_000), seal, facet(makeMint().issue(5), 'balance')] };
  });
  const far = await vats.vat('elsewhere').turn(() => makeMint().issue(50));
  for (const other of [...others, far, { taker: 1 }, undefined, 'purse']) {
    await expect(E(alice).deposit(1, other as never), String(other)).rejects.toThrow();
  }
  expect(await balances()).toEqual([100, 20]);
});

test('one that comes back in while it pays moves only what there is', async () => {
  const { vat, alice, bob, balances } = await bank();
  await vat.turn(() => {
    const [victim, genuine] = [alice, bob] as unknown as [Purse, Purse];
    victim.deposit(10, spawn(Reentrant(victim, genuine)));
    expect(() => victim.deposit(10, spawn(Reentrant(victim, genuine)))).toThrow(coded('exhausted') as Error);
  });
  expect(await balances()).toEqual([120, 0]);
});

test('the holder of a purse can neither make money nor open another purse', async () => {
  const { vat, alice } = await bank();
  await vat.turn(() => {
    const purse = alice as unknown as Purse;
    expect((purse as unknown as { issue?: unknown }).issue).toBe(undefined);
    const box = purse.taker();
    expect(() => makeSealers()[1](box as Sealed)).toThrow(coded('denied') as Error);
    expect(box.open()).toBe(undefined);
  });
});

test('after a thousand random transfers, with failures caught and uncaught, the sum is what was issued', async () => {
  const { vat } = await bank();
  let seed = 7;
  const next = (below: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return seed % below;
  };
  const purses = await vat.turn(() => {
    const mint = makeMint();
    return [mint.issue(100), mint.issue(100), mint.issue(100), mint.issue(0)];
  });
  const near = purses as unknown as Purse[];
  const some = (): Purse => near[next(near.length)] as Purse;
  let failures = 0;
  for (let i = 0; i < 250; i += 1) {
    await vat
      .turn(() => {
        for (let j = 0; j < 4; j += 1) {
          const move = (): void => some().deposit(next(120) - 5, some());
          if (j % 2 === 0) move();
          else {
            try {
              attempt(move);
            } catch {
              failures += 1;
            }
          }
        }
      })
      .catch(() => {
        failures += 1;
      });
    const sum = await vat.turn(() => near.reduce((total, purse) => total + purse.balance(), 0));
    expect(sum).toBe(300);
  }
  expect(failures).toBeGreaterThan(20);
});
