/** Servers that are reached over a network: certificates and passwords. */
import { expect, onTestFinished } from 'vitest';
import { certificate } from '../../../test/certificate.ts';
import { requires } from '../../../test/needs.ts';
import { openCluster } from '../../../test/postgres-cluster.ts';
import { serverAt } from './address.ts';
import { postgresStore } from './index.ts';

const test = requires('postgres');

test('over TLS the server shows a certificate of the given authority for its name, and the user a password', async () => {
  const ours = certificate('localhost');
  const cluster = await openCluster({ tcp: { certificate: ours } });
  onTestFinished(() => cluster.remove());
  await cluster.sql`ALTER USER hob PASSWORD 's3cret'`;
  const at = (host: string, more: object): Promise<string> =>
    postgresStore({ url: `postgres://hob@${host}:${cluster.port}/postgres`, password: 's3cret', ...more }).then(
      async (store) => {
        const [row] = await cluster.sql`
          SELECT count(*)::int AS count FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
          WHERE application_name = 'hob' AND ssl`;
        await store.close();
        return `opened, ${row?.['count']} encrypted`;
      },
      ({ code, message }: { code: string; message: string }) => `${code}: ${message}`,
    );
  expect(await at('localhost', { ca: ours.cert })).toBe('opened, 1 encrypted');
  expect(await at('127.0.0.1', { ca: ours.cert })).toBe('opened, 1 encrypted');
  const wrong = await at('localhost', { ca: certificate('localhost').cert });
  expect(wrong).toMatch(/^invalid: the database server's certificate is not valid/);
  const refused = await at('localhost', { ca: ours.cert, password: 'other' });
  expect(refused).toBe('invalid: the database server refuses this user or its password: check both');
  expect([wrong, refused].join()).not.toContain('s3cret');
});

test('a certificate for another name is refused', async () => {
  const theirs = certificate('db.example.org');
  const cluster = await openCluster({ tcp: { certificate: theirs } });
  onTestFinished(() => cluster.remove());
  await cluster.sql`ALTER USER hob PASSWORD 's3cret'`;
  const url = `postgres://hob:s3cret@localhost:${cluster.port}/postgres`;
  await expect(postgresStore({ url, ca: theirs.cert })).rejects.toThrow(expect.objectContaining({ code: 'invalid', message: expect.stringContaining('certificate') })); // biome-ignore format: one line
});

test('a server that offers no TLS is refused if an authority is given, and the error has no password', async () => {
  const cluster = await openCluster({ tcp: {} });
  onTestFinished(() => cluster.remove());
  const url = `postgres://hob:s3cret@localhost:${cluster.port}/postgres`;
  await expect(postgresStore({ url, ca: certificate().cert })).rejects.toThrow(expect.objectContaining({ message: expect.not.stringContaining('s3cret') })); // biome-ignore format: one line
});

test('a server on another machine is always reached over TLS, one on this machine only if an authority is given', () => {
  const tls = (host: string, ca?: string): unknown =>
    serverAt(`postgres://hob@${host}/hob`, ca === undefined ? {} : { ca }).tls;
  for (const here of ['localhost', '127.0.0.1', '127.9.9.9', '[::1]']) expect(tls(here), here).toBe(undefined);
  for (const there of ['db.example.org', '10.0.0.1', '128.0.0.1', 'localhost.example.org', '[fe80::1]', '127.0.0.1.example.org']) // biome-ignore format: one line
    expect(tls(there), there).toEqual({ ca: undefined });
  expect(tls('localhost', 'pem')).toEqual({ ca: 'pem' });
  expect(serverAt('postgres:///hob?host=/run/postgresql&user=me', {}).tls).toBe(undefined);
});
