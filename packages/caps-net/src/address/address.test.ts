/** Addresses: one spelling, and which of them are public. The oracle for spellings is the URL parser of Node. */
import { BlockList } from 'node:net';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { addressOf, parseAddress, readAddress } from './address.ts';
import { takeHost } from './host.ts';
import { kindOf, parseRange, unmapped } from './kinds.ts';
import { addressPolicy } from './policy.ts';

const bits4 = fc.bigInt(0n, (1n << 32n) - 1n);
const group = fc.oneof(fc.constant(0n), fc.bigInt(0n, 0xffffn));
const bits6 = fc
  .array(group, { minLength: 8, maxLength: 8 })
  .map((groups) => groups.reduce((bits, one) => (bits << 16n) | one, 0n));
const codeOf = (act: () => unknown): string => {
  try {
    act();
    return 'ok';
  } catch (error) {
    return (error as { code: string }).code;
  }
};
const nowhere = (): readonly string[] => [];
const judge = (resolved: readonly string[], listed?: unknown, own = nowhere): string =>
  codeOf(() => addressPolicy(listed, own).judge(resolved));

test('an address has the spelling that the URL parser gives it, and is read back from it', () => {
  fc.assert(
    fc.property(bits4, bits6, (low, high) => {
      const [four, six] = [addressOf(4, low), addressOf(6, high)];
      expect(new URL(`http://${four.text}/`).hostname).toBe(four.text);
      expect(new URL(`http://[${six.text}]/`).hostname).toBe(`[${six.text}]`);
      expect(parseAddress(four.text)).toEqual(four);
      expect(parseAddress(six.text)).toEqual(six);
    }),
  );
});

test('a text that the URL parser writes otherwise is no address, and no granted host', () => {
  const odd = fc.oneof(
    fc.string({ unit: fc.constantFrom(...'0123456789abcdefx.:[]%') }),
    bits4.map(String),
    bits4.map((bits) => `0x${bits.toString(16)}`),
    bits4.map((bits) => `0${bits.toString(8)}`),
    fc
      .tuple(bits4, fc.nat(3))
      .map(([bits, at]) => addressOf(4, bits).text.split('.').map((part, n) => (n === at ? `0${part}` : part)).join('.')), // biome-ignore format: one line
    fc.tuple(fc.nat(255), fc.nat(65535)).map(([a, b]) => `${a}.${b}`),
  );
  fc.assert(
    fc.property(odd, (text) => {
      let hostname: string | undefined;
      try {
        hostname = new URL(`http://${text}/`).hostname;
      } catch {
        hostname = undefined;
      }
      if (hostname !== text) expect([text, codeOf(() => takeHost(text))]).toEqual([text, 'E_HOST']);
      if (parseAddress(text) !== undefined) expect(new URL(`http://${text.includes(':') ? `[${text}]` : text}/`).hostname).toBe(text.includes(':') ? `[${text}]` : text); // biome-ignore format: one line
    }),
    { numRuns: 500 },
  );
});

const REFUSED: Readonly<Record<string, string>> = {
  '0.0.0.0': 'unspecified',
  '0.1.2.3': 'unspecified',
  '::': 'unspecified',
  '127.0.0.1': 'loopback',
  '127.255.255.255': 'loopback',
  '::1': 'loopback',
  '169.254.1.1': 'link-local',
  'fe80::1': 'link-local',
  'febf::1': 'link-local',
  '10.0.0.1': 'private',
  '172.16.0.1': 'private',
  '172.31.255.255': 'private',
  '192.168.1.1': 'private',
  '100.64.0.1': 'private',
  '100.127.255.255': 'private',
  'fc00::1': 'private',
  'fd12:3456::1': 'private',
  'fec0::1': 'private',
  '169.254.169.254': 'metadata',
  '169.254.170.2': 'metadata',
  '169.254.170.23': 'metadata',
  '100.100.100.200': 'metadata',
  '192.0.0.192': 'metadata',
  '168.63.129.16': 'metadata',
  'fd00:ec2::254': 'metadata',
  'fd20:ce::254': 'metadata',
  '224.0.0.1': 'multicast',
  '239.255.255.255': 'multicast',
  'ff02::1': 'multicast',
  '192.0.2.1': 'reserved',
  '192.88.99.1': 'reserved',
  '198.18.0.1': 'reserved',
  '198.19.255.255': 'reserved',
  '198.51.100.1': 'reserved',
  '203.0.113.1': 'reserved',
  '240.0.0.1': 'reserved',
  '255.255.255.255': 'reserved',
  '100::1': 'reserved',
  '2001:2::1': 'reserved',
  '2001:db8::1': 'reserved',
  '3fff::1': 'reserved',
  '5f00::1': 'reserved',
  '4000::1': 'reserved',
  '::127.0.0.1': 'translated',
  '::ffff:0:7f00:1': 'translated',
  '64:ff9b:1::1': 'translated',
  '2001:0:53aa::1': 'translated',
  '2002:7f00:1::': 'translated',
  '2a00:1450::5efe:7f00:1': 'translated',
  '2a00:1450::200:5efe:a00:1': 'translated',
  // NAT64: the address inside decides.
  '64:ff9b::7f00:1': 'loopback',
  '64:ff9b::a9fe:a9fe': 'metadata',
  '64:ff9b::a00:1': 'private',
};

test('each address that is not a stranger on the internet is refused by its kind', () => {
  for (const [text, kind] of Object.entries(REFUSED)) {
    const address = readAddress(text);
    expect([text, address && kindOf(address)]).toEqual([text, kind]);
    expect([text, judge([text])]).toEqual([text, 'E_ADDRESS']);
    expect([text, judge(['93.184.215.14', text])]).toEqual([text, 'E_ADDRESS']);
    if (address?.family === 4) expect(judge([`::ffff:${text}`]), `mapped ${text}`).toBe('E_ADDRESS');
  }
  for (const text of ['1.1.1.1', '172.32.0.1', '100.128.0.1', '11.0.0.1', '2606:4700:4700::1111', '64:ff9b::101:101'])
    expect([text, judge([text])]).toEqual([text, 'ok']);
  expect(judge(['::ffff:1.1.1.1'])).toBe('ok');
});

test('no address is public that a list of Node refuses', () => {
  const list = new BlockList();
  const four = '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.168.0.0/16 224.0.0.0/3';
  for (const range of four.split(' ')) {
    const [base = '', prefix] = range.split('/');
    list.addSubnet(base, Number(prefix), 'ipv4');
  }
  fc.assert(
    fc.property(
      fc.oneof(
        bits4,
        fc.nat(255).map((low) => (127n << 24n) | BigInt(low)),
      ),
      (bits) => {
        const address = addressOf(4, bits);
        if (list.check(address.text, 'ipv4')) {
          expect(kindOf(address)).not.toBe('public');
          expect(kindOf(addressOf(6, (0x64ff9bn << 96n) | bits))).not.toBe('public');
          expect(kindOf(unmapped(addressOf(6, (0xffffn << 32n) | bits)))).not.toBe('public');
        }
      },
    ),
  );
});

test('a listed address is reached, its neighbours are not, and a range never opens the metadata of a cloud', () => {
  expect(judge(['127.0.0.1'], ['127.0.0.1'])).toBe('ok');
  expect(judge(['127.0.0.2'], ['127.0.0.1'])).toBe('E_ADDRESS');
  expect(judge(['10.1.2.3'], ['10.1.0.0/16'])).toBe('ok');
  expect(judge(['10.2.0.1'], ['10.1.0.0/16'])).toBe('E_ADDRESS');
  expect(judge(['169.254.169.254'], ['169.254.0.0/16', '0.0.0.0/0'])).toBe('E_ADDRESS');
  expect(judge(['169.254.169.254'], ['169.254.169.254'])).toBe('ok');
  expect(judge(['10.1.2.3'], ['0.0.0.0/0'])).toBe('ok');
  expect(judge(['::1'], ['0.0.0.0/0'])).toBe('E_ADDRESS');
  expect(judge(['fd00::1'], ['fd00::/8'])).toBe('ok');
});

test('the addresses of this machine are refused, and none is no address', () => {
  const own = (): readonly string[] => ['203.0.113.9', '1.2.3.4', 'fe80::1%eth0'];
  expect(judge(['1.2.3.4'], undefined, own)).toBe('E_ADDRESS');
  expect(judge(['::ffff:1.2.3.4'], undefined, own)).toBe('E_ADDRESS');
  expect(judge(['1.2.3.4'], ['1.2.3.4'], own)).toBe('ok');
  expect(judge([])).toBe('E_UNREACHABLE');
  expect(judge(['not an address'])).toBe('E_ADDRESS');
});

test('a range has no bits after its prefix, and one spelling', () => {
  for (const text of [
    '10.0.0.1/8',
    '10.0.0.0/33',
    '10.0.0.0/08',
    '10.0/8',
    'FD00::/8',
    '::1/129',
    '',
    '/8',
    '1.2.3.4/',
  ])
    expect([text, parseRange(text)]).toEqual([text, undefined]);
  for (const listed of ['10.0.0.0/8', [1], ['x'], new Array(65).fill('10.0.0.1')])
    expect(codeOf(() => addressPolicy(listed, nowhere))).toBe('invalid');
});

test('a host has one spelling', () => {
  const refused = [
    ...['LOCALHOST', 'example.com.', '.example.com', 'a..b', 'exa mple.com', 'user@example.com', 'example.com:80'],
    ...['example.com/', 'bücher.example', '①.example', '１２７.0.0.1', 'example。com', 'xn--a.example', 'xn--.com'],
    ...['2130706433', '0x7f000001', '0x7f.1', '017700000001', '127.1', '127.0.1', '127.0.0.01', '0177.0.0.1', '1.2.3'],
    ...['127.0.0.1.', '256.0.0.1', '1.2.3.4.5', '::1', '[::1', '[::1%lo]', '[0::1]', '[::FFFF]', '[::ffff:127.0.0.1]'],
    ...['[::ffff:7f00:1]', '[127.0.0.1]', '[]', '', '-a.com', 'a-.com', `${'a'.repeat(64)}.com`, 'a_b.com', 'a\0.com'],
    ...['example.com\n', 'a%2eb', 'a\\b', 'a#b', 'a?b', `${'a.'.repeat(127)}com`, 'xn--bcher-kva8445foa.example.'],
  ];
  for (const text of refused) expect([text, codeOf(() => takeHost(text))]).toEqual([text, 'E_HOST']);
  for (const text of [undefined, null, 7, {}, ['a']]) expect(codeOf(() => takeHost(text))).toBe('E_HOST');
  for (const text of ['example.com', 'localhost', 'a-b.c1.example', 'xn--bcher-kva.example', '127.0.0.1', '[::1]'])
    expect([text, codeOf(() => takeHost(text))]).toEqual([text, 'ok']);
});
