/** The granter of `npm start`. */
import { CapError, connect } from '@hob/vat';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { code, type TestHost, testHost } from '../../test/test-host.ts';
import { enterOwner } from './owner.ts';

let home: TestHost;
beforeEach(async () => {
  home = await testHost();
});
afterEach(() => home.close());

test('if the store fails while the granter is looked up or its secret renewed, no second granter is made', async () => {
  const added: string[] = [];
  const addGranter = (name: string) => {
    added.push(name);
    return home.host.addGranter(name);
  };
  for (const why of ['unavailable', 'unknown-outcome', 'vat-halted']) {
    const fails = () => Promise.reject(new CapError(why, 'the store fails'));
    const renewGranter = fails;
    expect(await code(enterOwner({ granter: fails, renewGranter, addGranter }, { newSecret: false }))).toBe(why);
    const granter = (name: string) => home.host.granter(name);
    expect(await code(enterOwner({ granter, renewGranter, addGranter }, { newSecret: true }))).toBe(why);
  }
  expect(added).toEqual([]);
});

test('an existing granter keeps its secret, or gets a new one on request', async () => {
  expect((await enterOwner(home.host, { newSecret: false })).secret).toBeUndefined();
  (await connect(home.url, { secret: home.granterSecret })).close();
  const { secret = '' } = await enterOwner(home.host, { newSecret: true });
  expect(await code(connect(home.url, { secret: home.granterSecret }))).toBe('denied');
  const entered = await connect(home.url, { secret });
  entered.close();
  await entered.closed;
});
