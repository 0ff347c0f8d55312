/** TLS: the certificate has to be of the granted name, and from somebody who is trusted. */
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { expect, test } from 'vitest';
import { certificate } from '../../../../test/certificate.ts';
import { codeOf, leadingTo } from '../../test/web.ts';
import { makeSecret } from '../secret/secret.ts';
import { openHttpCap } from './cap.ts';

test('a certificate of another name, or of a stranger, ends it before anything is sent', async () => {
  const seen: (string | undefined)[] = [];
  const { cert, key } = certificate();
  const server = createServer({ cert, key }, (request, response) => {
    seen.push(request.headers.host);
    response.end('secure');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const at = { addresses: ['127.0.0.1'], methods: ['GET', 'POST'] };
  {
    await using good = openHttpCap({ ...at, origin: `https://localhost:${port}`, ca: cert }, leadingTo('127.0.0.1'));
    await using address = openHttpCap({ ...at, origin: `https://127.0.0.1:${port}`, ca: cert }, leadingTo());
    await using stranger = openHttpCap({ ...at, origin: `https://localhost:${port}` }, leadingTo('127.0.0.1'));
    await using other = openHttpCap({ ...at, origin: `https://api.example:${port}`, ca: cert }, leadingTo('127.0.0.1'));
    expect((await good.getText('/')).text).toBe('secure');
    expect((await address.getText('/')).text).toBe('secure');
    for (const cap of [stranger, other]) {
      expect(await codeOf(() => cap.get('/'))).toBe('E_TLS');
      // Nothing left, so the outcome is known.
      expect(await codeOf(() => cap.fetch('/', { method: 'POST' }))).toBe('E_TLS');
    }
  }
  expect(seen).toEqual([`localhost:${port}`, `127.0.0.1:${port}`]);
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

test('a client certificate is shown, its key is read for each connection, and a wrong one is told without a part of it', async () => {
  const [server, mine] = [certificate(), certificate()];
  const seen: boolean[] = [];
  const at = createServer({ ...server, requestCert: true, ca: mine.cert }, (request, response) => {
    seen.push((request.socket as TLSSocket).authorized);
    response.setHeader('connection', 'close').end('hello');
  });
  await new Promise<void>((resolve) => at.listen(0, '127.0.0.1', resolve));
  const { port } = at.address() as AddressInfo;
  let key: string | undefined = mine.key;
  const options = { origin: `https://localhost:${port}`, addresses: ['127.0.0.1'], ca: server.cert };
  const client = { cert: mine.cert, key: makeSecret(() => key) };
  {
    await using cap = openHttpCap({ ...options, client }, leadingTo('127.0.0.1'));
    expect((await cap.getText('/')).text).toBe('hello');
    for (key of [undefined, certificate().key, 'no key, only a text that is not one']) {
      const error = (await cap.get('/').catch((thrown: unknown) => thrown)) as Error & { code: string };
      expect([error.code, error.message.includes('only a text')]).toEqual(['E_SECRET', false]);
    }
    key = mine.key;
    expect((await cap.getText('/')).text).toBe('hello');
  }
  expect(seen).toEqual([true, true]);
  expect(await codeOf(() => openHttpCap({ ...options, origin: `http://localhost:${port}`, client }, leadingTo()))).toBe('invalid'); // biome-ignore format: one line
  at.closeAllConnections();
  await new Promise((resolve) => at.close(resolve));
});
