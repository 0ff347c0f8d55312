/** Addresses and redirects that must not be reached. Servers on loopback count who comes. */
import { expect, test } from 'vitest';
import { codeOf, leadingTo, web } from '../../test/web.ts';
import { openHttpCap } from './cap.ts';

/** Addresses that a name must not resolve to. Each is refused also beside a public address. */
const ADDRESSES = [
  ...['127.0.0.1', '127.0.0.2', '127.1.2.3', '127.255.255.254', '0.0.0.0', '0.1.2.3', '10.0.0.1', '10.255.255.255'],
  ...['172.16.0.1', '172.31.255.255', '192.168.0.1', '192.168.255.255', '100.64.0.1', '100.127.255.255', '169.254.0.1'],
  ...['169.254.169.254', '169.254.170.2', '100.100.100.200', '192.0.0.192', '168.63.129.16', '192.0.0.1', '192.0.2.1'],
  ...[
    '198.18.0.1',
    '198.51.100.1',
    '203.0.113.1',
    '224.0.0.1',
    '239.1.1.1',
    '240.0.0.1',
    '255.255.255.255',
    '192.88.99.1',
  ],
  ...[
    '::',
    '::1',
    '0:0:0:0:0:0:0:1',
    '::127.0.0.1',
    '::7f00:1',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '::FFFF:127.0.0.1',
  ],
  ...[
    '0:0:0:0:0:ffff:127.0.0.1',
    '::ffff:10.0.0.1',
    '::ffff:169.254.169.254',
    '::ffff:a9fe:a9fe',
    '::ffff:0:127.0.0.1',
  ],
  ...['::ffff:0.0.0.0', '64:ff9b::127.0.0.1', '64:ff9b::7f00:1', '64:ff9b::10.0.0.1', '64:ff9b::169.254.169.254'],
  ...['64:ff9b::0.0.0.0', '64:ff9b:1::127.0.0.1', '64:ff9b:1::1', '2002:7f00:1::', '2002:a9fe:a9fe::', '2002:a00:1::1'],
  ...[
    '2001:0:4136:e378:8000:63bf:3fff:fdd2',
    '2001::1',
    'fe80::1',
    'fe80::1%lo',
    'fe80::a9fe:a9fe',
    'febf::1',
    'fec0::1',
  ],
  ...[
    'fc00::1',
    'fd00::1',
    'fd00:ec2::254',
    'fd20:ce::254',
    'ff02::1',
    'ff05::1:3',
    '100::1',
    '2001:db8::1',
    '3fff::1',
  ],
  ...[
    '5f00::1',
    '4000::1',
    '2a00:1450::5efe:127.0.0.1',
    '2a00::200:5efe:10.0.0.1',
    '1::',
    '8000::1',
    'not-an-address',
    '',
  ],
];

test(`a name that leads to one of ${ADDRESSES.length} addresses leads nowhere, also beside a public one`, async () => {
  await using here = await web((_request, response) => response.end('reached'));
  for (const address of ADDRESSES)
    for (const resolved of [[address], ['93.184.215.14', address], [address, '93.184.215.14']]) {
      await using cap = openHttpCap({ origin: `http://api.example:${here.port}` }, leadingTo(...resolved));
      expect([address, await codeOf(() => cap.get('/'))]).toEqual([address, 'E_ADDRESS']);
    }
  expect(here.seen).toEqual([]);
});

/** Spellings of hosts in a grant. Most are loopback or metadata to some parser. */
const ORIGINS = [
  ...['http://2130706433', 'http://0x7f000001', 'http://017700000001', 'http://0x7f.0.0.1', 'http://0177.0.0.1'],
  ...['http://127.1', 'http://127.0.1', 'http://0', 'http://00.0.0.0', 'http://127.0.0.1.', 'http://localhost.'],
  ...[
    'http://LOCALHOST',
    'http://user@127.0.0.1',
    'http://user:pw@a.example',
    'http://a.example@127.0.0.1',
    'http://@a.example',
  ],
  ...[
    'http://[::ffff:127.0.0.1]',
    'http://[::FFFF:7F00:1]',
    'http://[0:0:0:0:0:0:0:1]',
    'http://[::1%25lo]',
    'http://[::01]',
  ],
  ...['http://①②⑦.0.0.1', 'http://ｌocalhost', 'http://a。example', 'http://bücher.example', 'http://xn--a.example'],
  ...[
    'http://a.example:080',
    'http://a.example:80',
    'https://a.example:443',
    'http://a.example:0',
    'http://a.example:99999',
  ],
  ...[
    'http://a.example/',
    'http://a.example/x',
    'http://a.example?x',
    'http://a.example#x',
    'http:a.example',
    'http:/a.example',
  ],
  ...['HTTP://a.example', 'ftp://a.example', 'file:///etc/passwd', 'javascript:1', '//a.example', 'a.example', ''],
  ...[
    'http://a.example\\@127.0.0.1',
    'http://a.example%2f',
    'http://a.example\n',
    ' http://a.example',
    'http://a_b.example',
  ],
  ...[
    'http://169.254.169.254.',
    'http://0251.0376.0251.0376',
    'http://2852039166',
    'http://a..example',
    'http://.example',
  ],
];

test(`none of ${ORIGINS.length} odd origins is taken when a grant is made`, async () => {
  for (const origin of ORIGINS) {
    const code = await codeOf(() => openHttpCap({ origin }, leadingTo('127.0.0.1')));
    expect([origin, ['invalid', 'E_HOST'].includes(code)]).toEqual([origin, true]);
  }
});

test('an address in the origin is judged as a resolved one is', async () => {
  for (const host of ['127.0.0.1', '[::1]', '169.254.169.254', '[fd00:ec2::254]', '10.0.0.1', '0.0.0.0', '[::]']) {
    await using cap = openHttpCap({ origin: `http://${host}` }, leadingTo());
    expect([host, await codeOf(() => cap.get('/'))]).toEqual([host, 'E_ADDRESS']);
  }
});

test('a name that leads elsewhere at its second look is refused, and each connection looks once', async () => {
  await using victim = await web((_request, response) => response.end('inside'));
  await using stranger = await web((_request, response) => response.setHeader('connection', 'close').end('outside'), {
    address: '127.0.0.2',
    port: victim.port,
  });
  const answers = [['127.0.0.2'], ['127.0.0.1'], ['127.0.0.2', '127.0.0.1']];
  let looks = 0;
  const resolver = { resolve: async () => answers[looks++] ?? [], own: () => [] };
  await using cap = openHttpCap({ origin: `http://rebind.invalid:${victim.port}`, addresses: ['127.0.0.2'] }, resolver);
  expect((await cap.getText('/')).text).toBe('outside');
  expect(looks).toBe(1);
  expect(await codeOf(() => cap.get('/'))).toBe('E_ADDRESS');
  expect(await codeOf(() => cap.get('/'))).toBe('E_ADDRESS');
  expect(await codeOf(() => cap.get('/'))).toBe('E_UNREACHABLE');
  expect([victim.seen, stranger.seen]).toEqual([[], ['GET /']]);
});

test('a service of this machine is not reached by its own address', async () => {
  await using here = await web((_request, response) => response.end('inside'));
  const resolver = { resolve: async () => ['93.184.215.14'], own: () => ['93.184.215.14'] };
  await using cap = openHttpCap({ origin: `http://me.example:${here.port}` }, resolver);
  expect(await codeOf(() => cap.get('/'))).toBe('E_ADDRESS');
});

const placesOf = (port: number, evil: number): readonly string[] => [
  ...[`http://a.example:${evil}/`, `http://127.0.0.2:${port}/`, `http://evil.example:${port}/repos/acme/app`],
  ...[`https://a.example:${port}/repos/acme/app/x`, `//evil.example:${port}/repos/acme/app`, `\\\\evil.example\\x`],
  ...[
    `/\\evil.example/repos/acme/app`,
    `http:\\\\127.0.0.1:${evil}\\x`,
    `http://a.example:${port}@127.0.0.1:${evil}/repos/acme/app`,
  ],
  ...[
    `http://u:p@a.example:${port}/repos/acme/app/x`,
    `http://a.example.:${port}/repos/acme/app/x`,
    `HTTP://127.1:${evil}/`,
  ],
  ...[
    `http://2130706433:${evil}/`,
    `http://0x7f.1:${evil}/repos/acme/app`,
    `http://[::1]:${evil}/`,
    'http://localhost/',
  ],
  ...[
    'http://169.254.169.254/latest/meta-data/',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'data:text/plain,x',
    'ftp://a.example/',
  ],
  ...[
    '/',
    '/repos',
    '/repos/acme',
    '/repos/acme/app-evil',
    '/repos/acme/app/../app-evil',
    '../app-evil',
    '../../..',
    '..',
    './../x',
  ],
  ...[
    '/repos/acme/app/%2e%2e/app-evil',
    '/repos/acme/app/x/%2E%2E/%2e%2e/y',
    '/repos/acme/app/..;/app-evil',
    '..;/x',
    '%2e%2e;/x',
  ],
  ...[
    '/repos/acme/app/%252e%252e/x',
    '/repos/acme/app/..%2fapp-evil',
    '/repos/acme/app/..%5capp-evil',
    '/repos/acme/app%2f..%2fx',
  ],
  ...[
    '/repos/acme/app//x',
    '//',
    '///',
    '/repos/acme/app/\\..\\..\\x',
    '/repos/acme/app/．．/x',
    '/repos/acme/app/%c0%ae%c0%ae/x',
  ],
  ...[
    '/repos/acme/app/.%00./x',
    '/repos/acme/app/a%0d%0aHost:%20x',
    '/repos/acme/app%23/../x',
    '/Repos/acme/app',
    '/repos%2facme/app',
  ],
  ...['?x', '#x'].map((end) => `http://a.example:${evil}/repos/acme/app${end}`),
  ...[
    'http://',
    'http://[',
    'http://a.example:99999/',
    ' /evil',
    '\t//evil.example/',
    'ht\ttp://127.0.0.1/',
    '/repos/acme/../../etc',
  ],
];

test('no redirect leaves the grant', async () => {
  let places: readonly string[] = [];
  await using evil = await web((_request, response) => response.end('evil'));
  await using server = await web((request, response) => {
    const at = /^\/repos\/acme\/app\/go\?n=(\d+)&s=(\d+)$/.exec(request.url ?? '');
    if (at === null) return void response.end('reached');
    response
      .writeHead(Number(at[2]), { location: Buffer.from(places[Number(at[1])] ?? '').toString('latin1') })
      .end('moved');
  });
  places = placesOf(server.port, evil.port);
  expect(ADDRESSES.length + ORIGINS.length + places.length).toBeGreaterThanOrEqual(150);
  await using cap = openHttpCap(
    {
      ...{ origin: `http://a.example:${server.port}`, prefix: '/repos/acme/app', methods: ['GET', 'POST'] },
      addresses: ['127.0.0.1', '127.0.0.2', '::1'],
    },
    leadingTo('127.0.0.1'),
  );
  for (const [n, place] of places.entries()) {
    const status = [301, 302, 303, 307, 308][n % 5];
    expect([place, await codeOf(() => cap.get(`go?n=${n}&s=${status}`))]).toEqual([place, 'E_REDIRECT']);
    const post = { method: 'POST', body: 'x' };
    expect([place, await codeOf(() => cap.fetch(`go?n=${n}&s=${status}`, post))]).toEqual([place, 'E_REDIRECT']);
  }
  expect(evil.seen).toEqual([]);
  expect(server.seen.filter((line) => !line.includes(' /repos/acme/app/go?'))).toEqual([]);
});
