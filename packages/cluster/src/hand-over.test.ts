/** A tenant goes from one host to another: in good order, and after kill -9. The rest is in the deep run. */
import { expect } from 'vitest';
import { requires } from '../../../test/needs.ts';
import { serverOfFile } from '../../../test/postgres-cluster.ts';
import { databaseOn } from '../../../test/postgres-database.ts';
import { machine, serves, tenantAt } from '../test/machines.ts';
import { Life, Said } from '../test/processes.ts';
import { placeOf } from './placement.ts';

const test = requires('postgres');
const server = serverOfFile(test);

test('a tenant moves to the host that it is pinned to with its state, and back to its usual place', async () => {
  const { url } = await databaseOn(server.cluster);
  const one = await machine(url, 'one');
  await one.cluster.addTenant('acme');
  await serves(one, 'acme');
  expect(await one.count('acme')).toBe(0);
  const two = await machine(url, 'two', { address: 'machine.two:7711' });
  await one.cluster.pin('acme', 'two');
  const began = performance.now();
  await serves(two, 'acme');
  console.log(`a clean hand-over took ${Math.round(performance.now() - began)} ms`);
  expect(await two.count('acme')).toBe(1);
  await serves(one);
  expect([two.cluster.where('acme'), two.cluster.where('other')]).toEqual(['here', undefined]);
  expect(one.cluster.where('acme')).toEqual({ name: 'two', address: 'machine.two:7711' });
  expect(await tenantAt(one, 'acme')).toMatchObject({
    ...{ pin: 'two', place: 'two', here: 'closed', failure: undefined },
    store: { epoch: 2, holder: { name: 'two', connected: true } },
  });
  await one.cluster.pin('acme', 'one');
  await serves(one, 'acme');
  expect(await one.count('acme')).toBe(2);
  // A pin to a host that does not live counts for nothing.
  await one.cluster.pin('acme', 'nobody');
  await serves(placeOf({ name: 'acme' }, ['one', 'two']) === 'one' ? one : two, 'acme');
});

test('a tenant of a process that is killed is served again by another one, and no use is spent twice', async () => {
  const { url } = await databaseOn(server.cluster);
  const said = new Said();
  const [one, two] = ['one', 'two'].map((name) => new Life(said, { url, name, leaseMs: 1000 })) as [Life, Life];
  await Promise.all([one.joined, two.joined]);
  const admin = await machine(url, 'admin');
  await admin.cluster.addTenant('acme');
  await admin.cluster.pin('acme', 'one');
  await admin.cluster.close();
  const works = async (of: Life): Promise<void> => {
    await expect.poll(() => said.count('answer', 'acme', of), { interval: 10 }).toBeGreaterThan(2);
  };
  await works(one);
  const began = performance.now();
  await one.kill();
  await works(two);
  console.log(`from kill -9 to some answers of the next host: ${Math.round(performance.now() - began)} ms`);
  await two.leave();
  expect(said.check().answers).toBeGreaterThan(3);
});
