/** Hosts of one cluster in one process, on a real server. Each test has a database of its own. */
import { expect } from 'vitest';
import { requires } from '../../../test/needs.ts';
import { serverOfFile, urlOf } from '../../../test/postgres-cluster.ts';
import { machine } from '../test/machines.ts';

const test = requires('postgres');
const server = serverOfFile(test);

let databases = 0;
async function database(): Promise<string> {
  const name = `d${(databases += 1)}`;
  await server.cluster.sql.unsafe(`CREATE DATABASE ${name}`);
  return urlOf(server.cluster.socket, name);
}

test('a tenant is served by one host, moves to the host that it is pinned to, and keeps its state', async () => {
  const url = await database();
  const one = await machine(url, 'one');
  await one.cluster.addTenant('acme');
  await expect.poll(() => one.hosts.has('acme')).toBe(true);
  expect(await one.count('acme')).toBe(0);
  const two = await machine(url, 'two', { address: 'machine.two:7711' });
  await one.cluster.pin('acme', 'two');
  const began = performance.now();
  await expect.poll(() => two.hosts.has('acme'), { interval: 5 }).toBe(true);
  console.log(`hand-over: ${Math.round(performance.now() - began)} ms`);
  expect(await two.count('acme')).toBe(1);
  expect(one.hosts.size).toBe(0);
  expect([two.cluster.where('acme'), two.cluster.where('other')]).toEqual(['here', undefined]);
  expect(one.cluster.where('acme')).toEqual({ name: 'two', address: 'machine.two:7711' });
  console.log(JSON.stringify(await one.cluster.status(), null, 1));
});
