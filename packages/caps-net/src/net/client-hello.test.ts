/** The first message of TLS clients, as real ones send it, in any pieces, and broken. */
import { Duplex } from 'node:stream';
import tls from 'node:tls';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readClientHello } from './client-hello.ts';

/** The first bytes that Node's own client (OpenSSL) sends. */
const helloOf = (options: tls.ConnectionOptions): Promise<Buffer> =>
  new Promise((resolve) => {
    const wire = new Duplex({
      read() {},
      write: (chunk: Buffer, _encoding, next) => {
        next();
        resolve(chunk);
      },
    });
    tls.connect({ socket: wire, ...options }).on('error', () => {});
  });

const u16 = (value: number): Buffer => Buffer.of(value >> 8, value & 255);
const vector = (width: 1 | 2, ...parts: readonly Uint8Array[]): Buffer => {
  const body = Buffer.concat(parts);
  return Buffer.concat([width === 1 ? Buffer.of(body.length) : u16(body.length), body]);
};
const sni = (...names: readonly (readonly [type: number, name: string])[]): Buffer =>
  extension(
    0,
    vector(2, ...names.map(([type, name]) => Buffer.concat([Buffer.of(type), vector(2, Buffer.from(name))]))),
  );
const extension = (type: number, content: Uint8Array): Buffer => Buffer.concat([u16(type), vector(2, content)]);
const message = (...extensions: readonly Uint8Array[]): Buffer => {
  const body = Buffer.concat([Buffer.of(3, 3), Buffer.alloc(32), vector(1), vector(2, Buffer.of(19, 1)), vector(1, Buffer.of(0)), vector(2, ...extensions)]); // biome-ignore format: one line
  return Buffer.concat([Buffer.of(1, 0), u16(body.length), body]);
};
const records = (bytes: Uint8Array, size = 16_384): Buffer => {
  const parts: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += size)
    parts.push(Buffer.concat([Buffer.of(22, 3, 1), vector(2, bytes.subarray(at, at + size))]));
  return Buffer.concat(parts);
};
const read = (bytes: Uint8Array): string => {
  try {
    const hello = readClientHello(bytes);
    return hello === undefined ? 'more' : (hello.name ?? 'no name');
  } catch (error) {
    return (error as { code: string }).code;
  }
};

test('the name of a real client is read, in all versions', async () => {
  for (const more of [{}, { maxVersion: 'TLSv1.2' }, { ALPNProtocols: ['h2', 'http/1.1'] }] as const)
    expect(read(await helloOf({ servername: 'Registry.Example', ...more }))).toBe('registry.example');
  expect(read(await helloOf({ servername: '' }))).toBe('no name');
});

test('a hello is the same in any pieces and records, and no part of it is one', async () => {
  const whole = await helloOf({ servername: 'a.example' });
  for (let length = 0; length < whole.length; length += 1) expect(read(whole.subarray(0, length))).toBe('more');
  const body = message(extension(0x0a0a, Buffer.of(0)), sni([0, 'a.example']));
  fc.assert(
    fc.property(fc.integer({ min: 2, max: 200 }), fc.nat(40), (size, behind) => {
      const bytes = records(body, size);
      expect(read(bytes)).toBe('a.example');
      expect(read(bytes.subarray(0, -1))).toBe('more');
      // The next record is not looked at: it may be early data.
      expect(read(Buffer.concat([bytes, Buffer.alloc(behind, 23)]))).toBe('a.example');
    }),
  );
});

const padded = (length: number): Buffer => message(sni([0, 'a.example']), extension(21, Buffer.alloc(length)));

test('everything that is not exactly one hello with one name is refused', () => {
  const good = message(sni([0, 'a.example']));
  const cases: Readonly<Record<string, Uint8Array>> = {
    'plain text': Buffer.from('GET / HTTP/1.1\r\n'),
    'SSL 2': Buffer.of(0x80, 46, 1, 3, 1),
    'an alert': Buffer.of(21, 3, 1, 0, 2, 2, 0),
    'another version of records': Buffer.concat([Buffer.of(22, 4, 1), vector(2, good)]),
    'an empty record': Buffer.concat([Buffer.of(22, 3, 1, 0, 0), records(good)]),
    'a record between': Buffer.concat([records(good).subarray(0, 5), Buffer.of(23, 3, 3)].map((x) => x)).subarray(5),
    'application data in the middle': Buffer.concat([records(good.subarray(0, 20)), Buffer.of(23, 3, 3, 0, 1, 0)]),
    'a server hello': records(Buffer.concat([Buffer.of(2), good.subarray(1)])),
    'a second message in its record': records(Buffer.concat([good, good])),
    'two names': records(message(sni([0, 'a.example'], [0, 'b.example']))),
    'two lists of names': records(message(sni([0, 'a.example']), sni([0, 'b.example']))),
    'a name of another kind': records(message(sni([1, 'a.example']))),
    'no name in the list': records(message(sni())),
    'an empty name': records(message(sni([0, '']))),
    'a NUL in the name': records(message(sni([0, 'a.example\0.evil.example']))),
    'a name that is not ASCII': records(message(sni([0, 'ä.example']))),
    'a length of a list that is too short': records(message(extension(0, Buffer.concat([u16(3), sni([0, 'a.example']).subarray(6)])))), // biome-ignore format: one line
    'an extension that is cut': records(message(sni([0, 'a.example']), Buffer.of(0, 5, 0, 9))),
    'too long': records(padded(16_384)),
    'too many records': records(padded(200), 3),
  };
  for (const [what, bytes] of Object.entries(cases)) expect([what, read(bytes)]).toEqual([what, 'E_NAME']);
  expect(read(records(padded(8_000)))).toBe('a.example');
  expect(read(records(message()))).toBe('no name');
});

test('no bytes make it throw anything else', () => {
  const good = records(message(sni([0, 'a.example'])));
  fc.assert(
    fc.property(fc.nat(good.length - 1), fc.nat(255), fc.uint8Array({ maxLength: 20 }), (at, value, more) => {
      const bytes = Buffer.concat([good, more]);
      bytes[at] = value;
      expect(['more', 'no name', 'E_NAME'].includes(read(bytes)) || read(bytes).length > 0).toBe(true);
      const said = read(bytes);
      // The name is changed only where its bytes are.
      if (at < good.length - 9) expect(['more', 'no name', 'E_NAME', 'a.example']).toContain(said);
    }),
  );
});
