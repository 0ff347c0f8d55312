import { expect, test } from 'vitest';
import { type AnyDefinition, type Definition, define, E, type Far, openStore, openVats, spawn } from '../index.ts';
import * as library from './index.ts';
import { type Mint, makeMint, mintDefinitions, type Purse } from './index.ts';

const Holder: Definition<{ all(): readonly unknown[] }, [all: readonly unknown[]]> = define('Holder', (_b, all) => ({
  all: () => all,
}));

/** Makes, in a turn, everything that a bundle promises. */
const makes: Readonly<Record<string, () => readonly object[]>> = {
  cellDefinitions: () => {
    const cell = library.makeCell(1);
    return [cell, library.readOnly(cell), library.writeOnly(cell)];
  },
  collectionDefinitions: () => [library.makeSeteq(1), library.makeGHash()],
  facetDefinitions: () => [library.facet(spawn(Holder([])), 'all')],
  inboxDefinitions: () => {
    const inbox = library.makeInbox();
    inbox.writer.write(1);
    return Object.values(inbox);
  },
  mintDefinitions: () => {
    const mint = makeMint();
    const purse = mint.issue(10);
    purse.sprout().deposit(4, purse);
    return [mint, purse, purse.taker()];
  },
  pubSubDefinitions: () => [library.makePubSub()],
  pushdownDefinitions: () => Object.values(library.makePushdown(spawn(Holder([])))),
  queueDefinitions: () => [library.makeQueue()],
  sealersDefinitions: () => {
    const [seal, unseal, isSealed] = library.makeSealers();
    return [seal, unseal, isSealed, seal(1)];
  },
  swappableDefinitions: () => Object.values(library.makeSwappable(spawn(Holder([])))),
  tickerDefinitions: () => [library.makeTicker()],
  wardDefinitions: () => {
    const [warden, incanter] = library.makeWardingPair();
    return [warden, incanter, library.enchant(incanter, spawn(Holder([])))];
  },
};
const bundles = Object.entries(library).filter(([name]) => name.endsWith('Definitions'));

test.each(Object.keys(makes))('%s are enough to store and to open again all that they are for', async (name) => {
  const store = await openStore({ memory: true });
  const definitions = [...((library as Record<string, unknown>)[name] as AnyDefinition[]), Holder];
  for (let restart = 0; restart < 2; restart += 1) {
    const vats = await openVats({ store, definitions });
    const holder = await vats.vat('a').root('holder', () => Holder((makes[name] as () => readonly object[])()));
    expect((await E(holder).all()).length).toBeGreaterThan(0);
    await vats.close();
  }
  await store.close();
});

test('the money of a mint that is opened again is where it was', async () => {
  const store = await openStore({ memory: true });
  for (let restart = 0; restart < 2; restart += 1) {
    const vats = await openVats({ store, definitions: [...mintDefinitions, Holder] });
    const vat = vats.vat('a');
    const holder = await vat.root('holder', () => {
      const mint = makeMint();
      return Holder([mint, mint.issue(10), mint.issue(0)]);
    });
    const [mint, from, to] = (await E(holder).all()) as unknown as [Far<Mint>, Far<Purse>, Far<Purse>];
    await E(to).deposit(3, from as never);
    expect([await E(from).balance(), await E(to).balance()]).toEqual(restart === 0 ? [7, 3] : [4, 6]);
    expect(await E(await E(mint).issue(1)).balance()).toBe(1);
    await vats.close();
  }
  await store.close();
});

test('every definition of the library is in a bundle, under a label of its own, and the whole has each once', () => {
  const whole = library.actorDefinitions;
  const defined = Object.entries(library)
    .filter(([name, x]) => /^[A-Z]/.test(name) && typeof x === 'function' && 'label' in x)
    .map(([, x]) => x as unknown as AnyDefinition);
  expect(defined.filter((one) => !whole.includes(one)).map(({ label }) => label)).toEqual([]);
  expect(new Set(whole.map(({ label }) => label)).size).toBe(whole.length);
  for (const [, bundle] of bundles) for (const one of bundle as readonly AnyDefinition[]) expect(whole).toContain(one);
});
