/** The door reads requests to a proxy in any pieces, and accepts one spelling of a host only. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isRefusal, LONGEST_HEAD, type Read, readGreeting, readHttp, readSocks, refusalBytes, type Wanted } from './request.ts'; // biome-ignore format: one line

const http = (line: string, ...headers: readonly string[]): string => {
  const read = readHttp(Buffer.from([line, ...headers, '', ''].join('\r\n'), 'latin1'));
  return shown(read);
};
const shown = (read: Read<Wanted>): string => {
  if (read === undefined) return 'more';
  return isRefusal(read) ? read.why : `${read.value.how} ${read.value.host} ${read.value.port}`;
};
const socks = (...bytes: readonly (number | string)[]): string =>
  shown(readSocks(Buffer.concat(bytes.map((one) => (typeof one === 'number' ? Buffer.of(one) : Buffer.from(one))))));

test('a host is taken as it is spelled, in lower case, and with its port', () => {
  expect(http('CONNECT a.example:443 HTTP/1.1')).toBe('connect a.example 443');
  expect(http('CONNECT A.Example:1 HTTP/1.0', 'Host: evil.example')).toBe('connect a.example 1');
  expect(http('CONNECT [2001:DB8::1]:443 HTTP/1.1')).toBe('connect 2001:db8::1 443');
  expect(http('GET http://a.example/b?c HTTP/1.1')).toBe('plain a.example 80');
  expect(http('POST HTTP://a.example:8080 HTTP/1.1')).toBe('plain a.example 8080');
  for (const same of ['a.example.', '127.0.0.1', '2130706433', '0x7f.1', 'a%2eexample', 'xn--a'])
    expect(http(`CONNECT ${same}:443 HTTP/1.1`)).toBe(same.includes('%') ? 'malformed' : `connect ${same} 443`);
});

test('everything else is refused', () => {
  for (const line of ['CONNECT a.example HTTP/1.1', 'CONNECT a.example:0 HTTP/1.1', 'CONNECT a.example:65536 HTTP/1.1', 'CONNECT a.example:443:1 HTTP/1.1', 'CONNECT u@a.example:443 HTTP/1.1', 'CONNECT [a.example]:443 HTTP/1.1', 'CONNECT ::1:443 HTTP/1.1', 'CONNECT a.example/x:443 HTTP/1.1', 'CONNECT http://a.example:443 HTTP/1.1']) // biome-ignore format: one line
    expect([line, http(line)]).toEqual([line, 'malformed']);
  for (const line of ['GET / HTTP/1.1', 'GET https://a.example/ HTTP/1.1', 'GET http:///x HTTP/1.1', 'GET http://u@a.example/ HTTP/1.1', 'GET http://u:p@a.example/ HTTP/1.1', 'GET http://a.example\\@b.example/ HTTP/1.1', 'GET ftp://a.example/ HTTP/1.1', 'CONNECT  a.example:443 HTTP/1.1', 'CONNECT a.example:443 HTTP/2', 'GET http://a.example/ x HTTP/1.1']) // biome-ignore format: one line
    expect([line, http(line)]).toEqual([line, 'command']);
  expect(http('connect a.example:443 HTTP/1.1')).toBe('malformed');
  expect(shown(readHttp(Buffer.from('A'.repeat(LONGEST_HEAD + 1))))).toBe('malformed');
});

test('a plain request goes on without what is for the proxy, and its connection is for one request', () => {
  const read = readHttp(Buffer.from('GET http://a.example?q HTTP/1.1\r\nHost: a.example\r\nProxy-Authorization: x\r\nConnection: keep-alive\r\nX: proxy\r\n\r\nrest')); // biome-ignore format: one line
  if (read === undefined || isRefusal(read)) throw new Error('it is read');
  expect(Buffer.from(read.value.head).toString()).toBe('GET /?q HTTP/1.1\r\nHost: a.example\r\nX: proxy\r\nConnection: close\r\n\r\n'); // biome-ignore format: one line
  expect(read.used).toBeGreaterThan(100);
});

test('SOCKS5 opens names by CONNECT only, and an address is no name', () => {
  expect(readGreeting(Buffer.of(5, 2, 2, 0))).toEqual({ used: 4, value: true });
  expect(readGreeting(Buffer.of(5, 1, 2))).toEqual({ used: 3, value: false });
  expect(readGreeting(Buffer.of(5, 2, 2))).toBeUndefined();
  expect(socks(5, 1, 0, 3, 9, 'A.example', 1, 187)).toBe('socks a.example 443');
  expect(socks(5, 1, 0, 1, 127, 0, 0, 1, 1, 187)).toBe('socks 127.0.0.1 443');
  expect(socks(5, 1, 0, 4, ...new Array<number>(15).fill(0), 1, 1, 187)).toBe('socks ::1 443');
  expect([socks(5, 2, 0, 1), socks(5, 3, 0, 1)]).toEqual(['command', 'command']);
  expect([socks(4, 1, 0, 3), socks(5, 1, 0, 2)]).toEqual(['malformed', 'malformed']);
});

test('no prefix of a request is taken for another one', () => {
  const requests = [
    [readHttp, Buffer.from('CONNECT a.example:4433 HTTP/1.1\r\nHost: x\r\n\r\n')],
    [readHttp, Buffer.from('GET http://a.example:8080/x HTTP/1.1\r\nHost: x\r\n\r\n')],
    [readSocks, Buffer.concat([Buffer.of(5, 1, 0, 3, 9), Buffer.from('a.example'), Buffer.of(17, 81)])],
  ] as const;
  for (const [read, whole] of requests) {
    for (let length = 1; length < whole.length; length += 1) expect(read(whole.subarray(0, length))).toBeUndefined();
    expect(read(whole)).toMatchObject({ used: whole.length });
  }
  // No bytes make a reader throw, and a refusal can always be told.
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), fc.constantFrom(0, 1, 2), (bytes, which) => {
      const start = [Buffer.of(5, 1, 0), Buffer.from('GET http://'), Buffer.from('CONNECT ')][which] as Buffer;
      const end = which === 0 ? '' : '\r\n\r\n';
      const read = (which === 0 ? readSocks : readHttp)(Buffer.concat([start, bytes, Buffer.from(end)]));
      if (read !== undefined && isRefusal(read)) expect(refusalBytes(read)).toBeInstanceOf(Uint8Array);
    }),
  );
});
