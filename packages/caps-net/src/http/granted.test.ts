/** An http cap behind grants and over a wire. */
import { type Grant, revocable } from '@hob/revocable';
import { captp, driverOf, E, type Far, iterate, memoryPair, openVats } from '@hob/vat';
import { expect, onTestFinished, test } from 'vitest';
import { codeOf, leadingTo, web } from '../../test/web.ts';
import { openHttpCap } from './cap.ts';
import type { HttpCap } from './http-cap.ts';

async function granted(port: number, terms: object = {}) {
  const vats = await openVats();
  const cap = openHttpCap(
    {
      origin: `http://api.example:${port}`,
      addresses: ['127.0.0.1'],
      methods: ['GET', 'POST'],
      limits: { idleMs: 600_000, totalMs: 600_000 },
    },
    leadingTo('127.0.0.1'),
  );
  onTestFinished(async () => {
    await cap[Symbol.asyncDispose]();
    await vats.close();
  });
  const driven = driverOf<HttpCap>(cap);
  const { cap: held, revoker } = (await vats.vat('a').turn(() => revocable(driven, terms as never) as never)) as unknown as Grant<HttpCap>; // biome-ignore format: one line
  return { vats, held: held as unknown as Far<HttpCap>, revoker };
}

test('over a wire an answer has a body that is read there', async () => {
  await using at = await web((_request, response) => response.end('a'.repeat(300_000)));
  const { held } = await granted(at.port);
  const [here, there] = memoryPair();
  const server = captp(here, { bootstrap: held, dialect: 'hob.1' });
  const client = captp<HttpCap>(there, { dialect: 'hob.1' });
  onTestFinished(async () => {
    client.close();
    await server.closed;
  });
  const far = client.bootstrap;
  const { status, headers, body } = await E(far).get('/');
  expect([status, headers['content-length']]).toEqual([200, '300000']);
  let bytes = 0;
  for await (const part of iterate(body)) bytes += part.length;
  expect(bytes).toBe(300_000);
  expect((await E(far).fetchText('/', { method: 'POST', body: 'x' })).truncated).toBe(false);
});

test('revoking a grant closes its connections before the revoker is told, also of what was made under it', async () => {
  let open = 0;
  await using at = await web((request, response) => {
    open += 1;
    request.socket.once('close', () => {
      open -= 1;
    });
    response.write('begun');
  });
  const { held, revoker } = await granted(at.port);
  const below = await E(E(held).subpath('a')).readOnly();
  const [first, second] = [await E(held).get('/'), await E(below as unknown as Far<HttpCap>).get('x')];
  await E(first.body).next();
  const waiting = E(second.body)
    .next()
    .then(() => E(second.body).next());
  const silent = codeOf(() => waiting);
  expect(open).toBe(2);
  await E(revoker).revoke();
  expect(await silent).toBe('revoked');
  expect(await codeOf(() => E(first.body).next())).toBe('revoked');
  expect(await codeOf(() => E(held).get('/'))).toBe('revoked');
  expect(await codeOf(() => E(below as unknown as Far<HttpCap>).get('/a'))).toBe('revoked');
  await expect.poll(() => open).toBe(0);
});

test('a call that is refused before it is sent does not keep its revoker waiting', async () => {
  await using at = await web((_request, response) => response.end());
  const { held, revoker } = await granted(at.port);
  expect(await codeOf(() => E(held).get('/../x'))).toBe('E_PATH');
  expect(await codeOf(() => E(held).fetch('/', { method: 'PUT' }))).toBe('E_METHOD');
  await E(revoker).revoke();
});

test('a change that a revocation cuts has an unknown outcome, and is not sent again', async () => {
  const begun = Promise.withResolvers<void>();
  await using at = await web(() => begun.resolve());
  const { held, revoker } = await granted(at.port);
  const change = codeOf(() => E(held).fetch('/', { method: 'POST', body: 'x' }));
  await begun.promise;
  await E(revoker).revoke();
  expect(['revoked', 'unknown-outcome']).toContain(await change);
  expect(at.seen).toEqual(['POST /']);
});

test('uses are spent by requests, and a grant of some methods has only those', async () => {
  await using at = await web((_request, response) => response.end('x'));
  const { held } = await granted(at.port, { uses: 2, methods: ['getText'] });
  expect(await codeOf(() => E(held).fetch('/', { method: 'POST' }))).not.toBe('ok');
  expect((await E(held).getText('/')).text).toBe('x');
  expect((await E(held).getText('/')).text).toBe('x');
  expect(await codeOf(() => E(held).getText('/'))).toBe('exhausted');
  expect(at.seen).toEqual(['GET /', 'GET /']);
});
