/** Where a host may listen, and what it is told when it may not. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { placeOf, type ServeOptions } from './where.ts';

const tls = { cert: 'CERT', key: 'KEY' };
const wrong = (options: unknown): string => {
  try {
    placeOf(options as ServeOptions);
  } catch (error) {
    return `${(error as { code: string }).code}: ${(error as Error).message}`;
  }
  return 'ok';
};

test('loopback is the default, and the URL is what clients dial', () => {
  expect(placeOf().at).toEqual({ host: '127.0.0.1', port: 0 });
  expect(placeOf({ port: 4000 }).url(4000)).toBe('ws://127.0.0.1:4000');
  expect(placeOf({ path: '/run/hob/socket' }).url(0)).toBe('ws+unix:/run/hob/socket:/');
  const place = placeOf({ host: '0.0.0.0', port: 443, tls, names: ['Hob.Example.org'] });
  expect(place.url(443)).toBe('wss://hob.example.org:443');
  expect(place.names(443)).toEqual({
    authorities: ['hob.example.org:443', 'hob.example.org'],
    origins: ['https://hob.example.org:443', 'https://hob.example.org'],
  });
  expect(placeOf({ host: '::1', port: 1, tls }).url(1)).toBe('wss://[::1]:1');
});

test.for([
  [{ host: '0.0.0.0', port: 1 }, 'needs tls'],
  [{ host: '127.0.0.1' }, 'needs tls'],
  [{ host: 'h', tls: {} }, 'needs tls'],
  [{ host: 'h', tls: { cert: 'x' } }, 'needs tls'],
  [{ host: '', tls }, 'host is an address'],
  [{ host: '0.0.0.0', tls }, 'needs names'],
  [{ host: '::', tls }, 'needs names'],
  [{ host: 'h', tls, names: ['a b'] }, 'names are host names'],
  [{ host: 'h', tls, names: 'h' }, 'names are host names'],
  [{ tls }, 'need host'],
  [{ names: ['h'] }, 'need host'],
  [{ path: 'socket' }, 'absolute path'],
  [{ path: '/a:b' }, 'without a colon'],
  [{ path: `/${'x'.repeat(107)}` }, '107 bytes'],
  [{ path: `/${'ä'.repeat(60)}` }, '107 bytes'],
  [{ path: '/s', port: 1 }, 'path stands alone'],
  [{ path: '/s', host: 'h', tls }, 'path stands alone'],
  [{ port: 65_536 }, '0 to 65535'],
  [{ port: 1.5 }, '0 to 65535'],
  [{ port: '80' }, '0 to 65535'],
  [{ prot: 80 }, 'no option "prot"'],
] as const)('%o is refused: %s', ([options, said]) => {
  expect(wrong(options)).toMatch(/^invalid: /);
  expect(wrong(options)).toContain(said);
});

test('whatever the options, without TLS a host listens on loopback or a Unix socket only', () => {
  const value = fc.constantFrom(undefined, 0, 4000, '0.0.0.0', '::', 'h', '/run/s', [], ['h'], tls, {}, null, true);
  fc.assert(
    fc.property(
      fc.record({ port: value, path: value, host: value, tls: value, names: value }, { requiredKeys: [] }),
      (options) => {
        let place: ReturnType<typeof placeOf>;
        try {
          place = placeOf(options as ServeOptions);
        } catch {
          return;
        }
        if (place.tls === undefined && 'host' in place.at) expect(place.at.host).toBe('127.0.0.1');
      },
    ),
    { numRuns: 2000 },
  );
});
