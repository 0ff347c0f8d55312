/** A call that a forwarder of the host's program refuses takes no use of the grant that a person gave. */
import { bound, forward } from '@hob/revocable';
import { driver, E, type Far, openVats } from '@hob/vat';
import { expect, onTestFinished, test } from 'vitest';
import { code, held, type TestHost, testHost } from '../test/test-host.ts';

interface Account {
  pay(to: string): string;
}

const account = (name: string, paid: string[]): Far<Account> =>
  driver<Account>(
    {
      pay: ([to]) => {
        paid.push(to);
        return to;
      },
    },
    { name },
  );

const onlyAlice = forward<readonly []>('host-test.only-alice', {
  before: (_state, _method, [to]) => {
    if (to !== 'alice') throw new RangeError('alice only');
  },
});

/** An agent that the grant reaches only over the wire, and that wants to use it up. */
async function attack(house: TestHost, paid: readonly string[]): Promise<void> {
  const grant = await E(house.granter).grant(house.session.id, 'bank', 'account', { uses: 1 });
  const bank = held<Account>(await house.enter(house.session.secret), 'bank');
  // Also several at once, and calls of methods that the forwarder refuses.
  const burn = await Promise.all(Array.from({ length: 10 }, () => code(E(bank).pay('bob') as never)));
  expect(burn).not.toContain('ok');
  expect(burn).not.toContain('exhausted');
  const [shown] = await E(house.granter).list({ session: house.session.id });
  expect(shown).toMatchObject({ id: grant.id, usesLeft: 1 });
  expect(await code(E(bank).pay('alice') as never)).toBe('ok');
  expect(await code(E(bank).pay('alice') as never)).toBe('exhausted');
  expect(paid).toEqual(['alice']);
}

test('a bound that the program offers, in the vat "grants" of the host', async () => {
  const house = await testHost();
  onTestFinished(() => house.close());
  const paid: string[] = [];
  await house.host.offer('account', bound(account('refusals-1', paid), { pay: { 0: { is: 'alice' } } }));
  await attack(house, paid);
});

test("a forwarder of the program's own, in the host's store", async () => {
  const house = await testHost({ definitions: [onlyAlice.definition] });
  onTestFinished(() => house.close());
  const paid: string[] = [];
  await house.host.offer('account', onlyAlice(account('refusals-2', paid)));
  await attack(house, paid);
});

test('a bound in vats of the program', async () => {
  const house = await testHost();
  const vats = await openVats();
  onTestFinished(async () => {
    await house.close();
    await vats.close();
  });
  const paid: string[] = [];
  const inner = account('refusals-3', paid);
  const offered = await vats.vat('mine').turn(() => bound(inner, { pay: { 0: { is: 'alice' } } }) as never);
  await house.host.offer('account', offered as object);
  await attack(house, paid);
});
