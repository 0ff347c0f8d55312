/**
 * A refusal costs nothing, in whatever vat the forwarder lives that refuses. An attacker who sends calls that are
 * refused takes no use of the user's grant.
 */
import { CapError, captp, type Definition, define, driver, driverOf, E, type Far, ledgerLine, memoryPair, openStore, openVats, spawn, table } from '@hob/vat'; // biome-ignore format: one line
import { drivenBy, named } from '@hob/vat/forwarder';
import { expect, onTestFinished, test } from 'vitest';
import { code, jobs, lines, say, world } from '../test/world.ts';
import { bound, definitions, facet, forward, gated, grantOf, type Judge, revocable } from './index.ts';

interface Account {
  pay(to: string): string;
  paid(): readonly string[];
}
const Account: Definition<Account, [to: readonly string[]]> = define('Account', (bcom, to) => ({
  pay: (next) => bcom(Account([...to, next]), next) as never,
  paid: () => to,
}));

const noted: string[] = [];
const Notes: Definition<{ note(what: string): void }, []> = define('Notes', () => ({
  note: (what) => void noted.push(what),
}));

/** Allows a payment to alice. Writes, sends and spawns before it decides. */
const onlyAlice = forward<readonly [notes: object]>('only-alice', {
  before: ([notes], method, [to]) => {
    (notes as { note(what: string): void }).note(`near ${to}`);
    void (E(notes) as unknown as { note(what: string): unknown }).note(`sent ${to}`);
    spawn(Account([]));
    table<number>().set('x', 1);
    ledgerLine('deny', { method });
    if (to !== 'alice') throw new RangeError('alice only');
  },
});

const attack = async (cap: Far<Account>): Promise<readonly string[]> => {
  const refused: string[] = [];
  for (let n = 0; n < 3; n += 1) refused.push(await code(E(cap).pay('bob')));
  expect(await code(E(cap).pay('alice'))).toBe('ok');
  expect(await code(E(cap).pay('alice'))).toBe('exhausted');
  return refused;
};

test('a bound in another vat refuses, and the use of the grant before it stays', async () => {
  const { vats, store } = await world();
  const account = (await vats.vat('program').spawn(Account([]))) as Far<Account>;
  const bounded = (await vats.vat('program').turn(() => bound(account, { pay: { 0: { is: 'alice' } } }) as never)) as Far<Account>; // biome-ignore format: one line
  const { cap } = revocable(bounded, { uses: 1 });
  expect(await attack(cap)).toEqual(['denied', 'denied', 'denied']);
  expect(await E(account).paid()).toEqual(['alice']);
  // The ledger has each attempt, with its code.
  expect((await lines(store, 'call')).map((line) => line.code)).toEqual(['denied', 'denied', 'denied', undefined]);
});

test('so does a forwarder of the program, whose looks leave no trace', async () => {
  noted.length = 0;
  const { vats, store } = await world();
  const program = vats.vat('program');
  const account = (await program.spawn(Account([]))) as Far<Account>;
  const notes = await program.spawn(Notes());
  const filtered = (await program.turn(() => onlyAlice(account, notes as object) as never)) as Far<Account>;
  const { cap } = revocable(filtered, { uses: 1 });
  expect((await attack(cap)).every((each) => each.includes('alice only'))).toBe(true);
  await jobs();
  // It looked at each call, and only at the one that passed it was called.
  expect(noted.filter((each) => each.startsWith('sent'))).toEqual(['sent alice']);
  expect((await lines(store, 'deny')).length).toBe(1);
});

test('through vats in between, a gate, a facet and another grant: none of them is charged', async () => {
  const { vats } = await world();
  const asked: string[] = [];
  const judge = driver<Judge>({ ask: ([{ args }]) => asked.push(String(args)) > 0 });
  let cap = (await vats.vat('a').spawn(Account([]))) as Far<object>;
  const put = async (vat: string, make: (inner: Far<object>) => unknown): Promise<void> => {
    const inner = cap;
    cap = (await vats.vat(vat).turn(() => make(inner) as never)) as Far<object>;
  };
  await put('a', (inner) => bound(inner, { pay: { 0: { is: 'alice' } } }));
  await put('b', (inner) => revocable(inner, { uses: 1 }).cap);
  await put('c', (inner) => gated(inner, judge));
  await put('b', (inner) => facet(inner as Far<Account>, ['pay']));
  await put('a', (inner) => revocable(inner, { uses: 1 }).cap);
  await attack(cap as Far<Account>);
  // Nobody is asked about a call that could not go on.
  expect(asked).toEqual(['alice']);
});

test('a gate before a bound of the same vat: the refusal comes before the question and costs nothing', async () => {
  const { vats } = await world();
  const asked: string[] = [];
  const judge = driver<Judge>({ ask: ([{ args }]) => asked.push(String(args)) > 0 });
  const cap = (await vats.vat('one').turn(() => {
    const inner = bound(spawn(Account([])) as unknown as Far<Account>, { pay: { 0: { is: 'alice' } } });
    return revocable(gated(inner, judge), { uses: 1 }).cap as never;
  })) as Far<Account>;
  await attack(cap);
  expect(asked).toEqual(['alice']);
});

test('an object of vats of its own, under a name in the store of the grant', async () => {
  const { vats } = await world([Account]);
  const others = await openVats();
  onTestFinished(() => others.close());
  const account = await others.vat('program').spawn(Account([]));
  const bounded = await others.vat('program').turn(() => bound(account as object, { pay: { 0: { is: 'alice' } } }) as never); // biome-ignore format: one line
  const given = named('refusals', bounded as object) as Far<Account>;
  const cap = (await vats.vat('grants').turn(() => grantOf(given, { uses: 1 }).cap as never)) as Far<Account>;
  await attack(cap);
});

test('an actor that sleeps in the store is woken for it', async () => {
  const store = await openStore({ memory: true });
  const options = { store, definitions: [...definitions, Account] };
  let vats = await openVats(options);
  const account = (await vats.vat('program').root('account', () => Account([]))) as Far<Account>;
  const bounded = (await vats.vat('program').turn(() => bound(account, { pay: { 0: { is: 'alice' } } }) as never)) as Far<Account>; // biome-ignore format: one line
  const cap = (await vats.vat('grants').turn(() => grantOf(bounded, { uses: 1 }).cap as never)) as Far<Account>;
  const secret = await vats.sturdyref(cap);
  await vats.close();
  vats = await openVats(options);
  onTestFinished(async () => {
    await vats.close();
    await store.close();
  });
  await attack(await vats.restore<Account>(secret));
});

test('a grant in another vat that has expired by the wall clock stays so', async () => {
  const { vats, clock } = await world();
  const inner = (await vats.vat('program').turn(() => revocable(spawn(Account([])) as unknown as Far<Account>, { for: 1000 }).cap as never)) as Far<Account>; // biome-ignore format: one line
  const { cap } = revocable(inner, { uses: 1, for: 60_000 });
  await E(cap)
    .paid()
    .catch(() => {});
  const { cap: other } = revocable(inner, { uses: 1, for: 60_000 });
  clock.stepWall(1000);
  expect(await code(E(other).pay('alice'))).toBe('expired');
  await jobs();
  clock.stepWall(-1000);
  expect(await code(E(other).pay('alice'))).toBe('expired');
});

test('an object that is away costs no use, through whatever lies before it, and can be used when it is back', async () => {
  const { vats } = await world();
  const program = vats.vat('program');
  const stacks: Readonly<Record<string, (inner: Far<Account>) => unknown>> = {
    grant: (inner) => inner,
    'a bound': (inner) => bound(inner, { pay: { 0: { is: 'alice' } } }),
    'a facet of another grant': (inner) => facet(revocable(inner, { uses: 1 }).cap, ['pay']),
  };
  for (const [what, stack] of Object.entries(stacks)) {
    let there = false;
    const paid: string[] = [];
    const away = (): CapError | undefined => (there ? undefined : new CapError('unavailable', 'not now'));
    const account = driverOf(drivenBy({}, { pay: ([to]) => void paid.push(to as string) }, away), { name: `refusals ${what}` as never }) as Far<Account>; // biome-ignore format: one line
    const { cap } = revocable((await program.turn(() => stack(account) as never)) as Far<Account>, { uses: 1 });
    for (let n = 0; n < 3; n += 1) expect(await code(E(cap).pay('alice')), what).toBe('unavailable');
    there = true;
    expect(await code(E(cap).pay('alice')), what).toBe('ok');
    expect(await code(E(cap).pay('alice')), what).toBe('exhausted');
    expect(paid, what).toEqual(['alice']);
  }
});

test('an object of a peer that has gone costs no use', async () => {
  const { vats, store } = await world();
  const [ours, theirs] = memoryPair();
  const pay = (): string => 'paid';
  const peer = captp(theirs, { bootstrap: driver<{ pay(): string }>({ pay }) });
  const client = captp<Account>(ours);
  const { cap } = (await vats.vat('program').turn(() => revocable(client.bootstrap, { uses: 2 }) as never)) as { cap: Far<Account> }; // biome-ignore format: one line
  expect(await code(E(cap).pay('alice'))).toBe('ok');
  client.close();
  await Promise.all([client.closed, peer.closed]);
  for (let n = 0; n < 3; n += 1) expect(await code(E(cap).pay('bob'))).toBe('disconnected');
  expect((await lines(store, 'call')).length).toBe(4);
});

test('what the object behind does itself is no refusal: it costs a use, whatever error it throws', async () => {
  const { vats } = await world();
  const refused = (await vats.vat('far').turn(() => bound(spawn(Account([])) as unknown as Far<Account>, { pay: { 0: { is: 'nobody' } } }) as never)) as Far<Account>; // biome-ignore format: one line
  const Liar: Definition<{ pay(to: string): unknown }, []> = define('Liar', () => ({
    pay: (to) => E(refused).pay(to),
  }));
  const liar = (await vats.vat('program').spawn(Liar())) as Far<Account>;
  const { cap } = revocable(liar, { uses: 1 });
  expect(await code(say(cap, 'pay', 'bob'))).toBe('denied');
  expect(await code(say(cap, 'pay', 'bob'))).toBe('exhausted');
});
