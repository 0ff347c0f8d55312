/** Placement, for any hosts, tenants and pins. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { placeOf } from './placement.ts';

const host = fc.stringMatching(/^[A-Za-z0-9_.-]{1,8}$/);
const hosts = fc.uniqueArray(host, { minLength: 1, maxLength: 8 });
const tenant = fc.stringMatching(/^[a-z][a-z0-9_]{0,9}$/);

test('a tenant has one place among the hosts, whatever their order, and none without a host', () => {
  fc.assert(
    fc.property(hosts, tenant, (live, name) => {
      const place = placeOf({ name }, live);
      expect(live).toContain(place);
      expect(placeOf({ name }, live.toReversed())).toBe(place);
      expect(placeOf({ name }, live.toSorted())).toBe(place);
      expect(placeOf({ name }, [])).toBe(undefined);
    }),
  );
});

test('a host that leaves gives only its own tenants away, and a host that joins takes tenants only for itself', () => {
  fc.assert(
    fc.property(hosts, host, fc.array(tenant, { maxLength: 30 }), (others, one, names) => {
      const without = others.filter((each) => each !== one);
      for (const name of names) {
        const before = placeOf({ name }, [...without, one]);
        if (before !== one) expect(placeOf({ name }, without)).toBe(before);
      }
    }),
  );
});

test('a pin wins while its host lives, also if it is that of a host with the smallest weight', () => {
  fc.assert(
    fc.property(hosts, host, fc.nat(), tenant, (live, dead, n, name) => {
      const pin = n % 4 === 0 ? dead : live[n % live.length];
      if (pin === undefined) return;
      const place = placeOf({ name, pin }, live);
      expect(place).toBe(live.includes(pin) ? pin : placeOf({ name }, live));
    }),
  );
});

test('each host gets its share, and a host that joins moves about that share', () => {
  const names = Array.from({ length: 3000 }, (_, n) => `t${n}`);
  const live = ['one', 'two', 'three'];
  const before = names.map((name) => placeOf({ name }, live));
  for (const each of live) {
    const share = before.filter((place) => place === each).length;
    expect(Math.abs(share - 1000), `${each} has ${share}`).toBeLessThan(120);
  }
  const moved = names.filter((name, n) => placeOf({ name }, [...live, 'four']) !== before[n]).length;
  expect(Math.abs(moved - 750), `${moved} moved`).toBeLessThan(120);
});

test('the place of a tenant is the same in every version: hosts of two versions serve one cluster', () => {
  const live = ['alpha', 'beta', 'gamma'];
  expect(['acme', 'globex', 'initech', 'hooli'].map((name) => placeOf({ name }, live))).toEqual([
    ...['beta', 'gamma', 'beta', 'alpha'],
  ]);
});
