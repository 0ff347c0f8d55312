/** TLS: the certificate has to be of the granted name, and from somebody who is trusted. */
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { certificate } from '../../../../test/certificate.ts';
import { codeOf, leadingTo } from '../../test/web.ts';
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
