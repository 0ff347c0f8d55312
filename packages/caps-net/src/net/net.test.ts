/** Net caps and socket caps in the jobs of a shell: what they open, and what not. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openFsCap } from '@hob/caps-fs';
import { type Ended, makeCommandCap, type ShellCap } from '@hob/caps-shell';
import { withPassage } from '@hob/caps-shell/door';
import { definitions, type Grant, revocable } from '@hob/revocable';
import { driverOf, E, exportLedger, type Far, openStore, openVats, type Vats } from '@hob/vat';
import { effectsOf, placeOf } from '@hob/vat/forwarder';
import fc from 'fast-check';
import { expect, onTestFinished } from 'vitest';
import { requires } from '../../../../test/needs.ts';
import { CLIENT, NAME, netCap, reachable, shellWith } from '../../test/net.ts';
import { codeOf, leadingTo } from '../../test/web.ts';
import { makeNetCap, makeSocketCap } from './cap.ts';
import type { NetCap } from './net-cap.ts';

const test = requires('linux', 'cc', 'userns');

const node = (text: string): string => `node -e '${`${CLIENT} (async () => { ${text} })()`.replaceAll("'", `'\\''`)}'`;
const lines = ({ stdout, stderr }: Ended): string[] => `${stdout}${stderr}`.trim().split('\n');

function scratch(): string {
  const folder = mkdtempSync(join(tmpdir(), 'hob-net-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

test('a job reaches the granted host and port over TLS, and no other name, port or address', async () => {
  const [at, other] = [await reachable({ tls: true }), await reachable({ tls: true })];
  const folder = scratch();
  writeFileSync(join(folder, 'ca.pem'), at.cert);
  await using files = await openFsCap(folder);
  const shell = await shellWith({ mounts: { '/ws': files.readOnly() }, net: [netCap({ port: at.port })] });
  const curl = 'curl -sS --http0.9 --max-time 20 --cacert ca.pem';
  expect(lines(await shell.run(`${curl} https://${NAME}:${at.port}/a`))).toEqual(['welcome']);
  expect(lines(await shell.run(`unset https_proxy HTTPS_PROXY; ${curl} https://${NAME}:${at.port}/b`))).toEqual([
    'welcome',
  ]);
  expect(at.said.map((text) => text.split(' ')[1])).toEqual(['/a', '/b']);
  const targets = [
    ...[`${NAME}:${other.port}`, `evil.example:${at.port}`, `127.0.0.1:${at.port}`, `[::ffff:127.0.0.1]:${at.port}`],
    ...[
      `${NAME}.:${at.port}`,
      `x${NAME}:${at.port}`,
      `sub.${NAME}:${at.port}`,
      `localhost:${at.port}`,
      `2130706433:${at.port}`,
    ],
  ];
  const asked = targets.map((target) => `console.log(status(await connect("${target}")));`);
  expect(lines(await shell.run(node(asked.join('\n'))))).toEqual(targets.map(() => '403 Forbidden'));
  expect([at.said.length, other.said.length]).toEqual([2, 0]);
});

test('nothing that is not TLS with the granted name reaches the server', async () => {
  const at = await reachable({ answer: '' });
  const shell = await shellWith({ net: [netCap({ port: at.port, limits: { connectMs: 1_500 } })] });
  const text = `
    const tls = require("node:tls");
    const hello = (servername) => new Promise((done) => {
      const bytes = [];
      const { Duplex } = require("node:stream");
      const wire = new Duplex({ read() {}, write(chunk, _, next) { bytes.push(chunk); next(); done(Buffer.concat(bytes)); } });
      tls.connect({ socket: wire, servername }).on("error", () => {});
    });
    const tunnel = (then) => connect("${NAME}:${at.port}", then);
    console.log(await shown(tunnel(await hello("evil.example"))));
    console.log(await shown(tunnel(await hello(""))));
    console.log(await shown(tunnel("GET / HTTP/1.1\\r\\n\\r\\n")));
    console.log(await shown(tunnel((await hello("${NAME}")).subarray(0, 60))));
    console.log(await shown(tunnel(Buffer.concat([await hello("evil.example"), await hello("${NAME}")]))));
    process.exit();`;
  // The alert "unrecognized name", or nothing. The fourth waits for the rest, until its time is over.
  const alert = 'opened 15030100020270';
  expect(lines(await shell.run(node(text)))).toEqual([alert, alert, 'opened', 'opened', alert]);
  expect(at.said.join('')).toBe('');
});

test('a plain grant carries any bytes to its host, as CONNECT, as SOCKS5 and as a request to a proxy', async () => {
  const at = await reachable({ answer: 'HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nyes' });
  const shell = await shellWith({ net: [netCap({ port: at.port, tls: false })] });
  const url = `http://${NAME}:${at.port}/path?q`;
  const run = async (text: string): Promise<string> => (await shell.run(text)).stdout;
  expect(await run(`curl -sS ${url}`)).toBe('yes');
  expect(await run(`curl -sSp ${url}`)).toBe('yes');
  expect(await run(`unset http_proxy; curl -sS ${url}`)).toBe('yes');
  expect(await run(`unset http_proxy all_proxy ALL_PROXY; curl -sS --socks5 127.0.0.1:1080 ${url}`)).toBe('');
  expect(at.said).toHaveLength(3);
  expect(at.said[0]).toMatch(
    /^GET \/path\?q HTTP\/1\.1\r\nHost: registry\.example:\d+\r\n[\s\S]*\r\nConnection: close\r\n\r\n$/,
  );
  expect(at.said[0]).not.toMatch(/proxy/i);
});

test('a name that leads to an address that is not granted is not dialled, also if another of its addresses is', async () => {
  const at = await reachable({ tls: true });
  for (const [addresses, leads] of [
    [[], ['127.0.0.1']],
    [['127.0.0.1'], ['127.0.0.1', '169.254.169.254']],
    [['10.0.0.0/8'], []],
  ] as const) {
    const shell = await shellWith({ net: [netCap({ port: at.port, addresses }, leadingTo(...leads))] });
    expect(lines(await shell.run(node(`console.log(await connect("${NAME}:${at.port}"))`))).slice(0, 1)).toEqual([
      'HTTP/1.1 502 Bad Gateway\r',
    ]);
  }
  expect(at.open.size).toBe(0);
});

test('no error that a program sees has an address in it', async () => {
  const shell = await shellWith({ net: [netCap({ port: 1 })] });
  const { stdout } = await shell.run(node(`console.log(await connect("${NAME}:1"))`));
  expect(stdout).toMatch(/^HTTP\/1\.1 502 [\s\S]*Hob: the server cannot be reached/);
  expect(stdout).not.toMatch(/127|ECONN/);
});

test('a world without a net cap has no door and no variables of one', async () => {
  const shell = await shellWith({});
  expect(await shell.describe()).toMatchObject({ network: 'none', sockets: [] });
  expect((await shell.run('env | grep -ci proxy; exec 3<>/dev/tcp/127.0.0.1/1080 || echo shut')).stdout).toBe(
    '0\nshut\n',
  );
});

test('an attenuated shell has the ways that are kept, and can name no other', async () => {
  const folder = scratch();
  const [one, two] = [await reachable(), await reachable({ at: { path: join(folder, 's') } })];
  const socket = makeSocketCap({ path: join(folder, 's') });
  const [a, b] = [
    netCap({ port: one.port, tls: false }),
    netCap({ host: 'other.example', port: one.port, tls: false }),
  ];
  const shell = await shellWith({ net: [a, Promise.resolve(b)], sockets: { '/run/s.sock': socket } });
  const [first, second] = [`${NAME}:${one.port}`, `other.example:${one.port}`];
  expect(await shell.describe()).toMatchObject({ network: [first, second], sockets: ['/run/s.sock'] });
  const less = await shell.attenuate({ net: [second] });
  expect(await less.describe()).toMatchObject({ network: [second], sockets: ['/run/s.sock'] });
  const none = await less.attenuate({ net: [], sockets: [] });
  expect(await none.describe()).toMatchObject({ network: 'none', sockets: [] });
  expect(await codeOf(() => less.attenuate({ net: [first] }))).toBe('E_NOT_ATTENUATION');
  expect(await codeOf(() => none.attenuate({ sockets: ['/run/s.sock'] }))).toBe('E_NOT_ATTENUATION');
  const probe = node(`console.log(status(await connect("${first}")), status(await connect("${second}", "x")))`);
  expect((await less.run(probe)).stdout).toBe('403 Forbidden 200 Connection established\n');
  expect((await none.run('[ -e /run/s.sock ] || echo none')).stdout).toBe('none\n');
  expect((await shell.run('echo x | curl -sS --http0.9 --unix-socket /run/s.sock http://x/')).stdout).toBe('welcome\n');
  expect(two.said).toHaveLength(1);
  await socket[Symbol.asyncDispose]();
  expect((await shell.run('curl -sS --unix-socket /run/s.sock http://x/ 2> /dev/null')).status).not.toBe(0);
});

test('only net caps of this host are handed in, each once, and a socket lies in no mount and no part of the system', async () => {
  const cap = netCap({ port: 443 });
  const socket = makeSocketCap({ path: '/x' });
  for (const net of [[{}], [cap, socket], ['registry.example:443'], [undefined]])
    expect(await codeOf(() => shellWith({ net: net as never }))).toBe('E_NET');
  expect(await codeOf(() => shellWith({ net: cap as never }))).toBe('invalid');
  expect(await codeOf(() => shellWith({ net: [cap, netCap({ port: 443 })] }))).toBe('E_MOUNT_CONFLICT');
  expect(await codeOf(() => shellWith({ sockets: { '/run/s': cap } }))).toBe('E_NET');
  for (const at of ['/tmp/s', '/proc', '/', '/etc/x', 'run/s', '/run/../s'])
    expect(await codeOf(() => shellWith({ sockets: { [at]: socket } })), at).toMatch(/^(?:E_MOUNT_CONFLICT|invalid)$/);
  await using files = await openFsCap(scratch());
  expect(await codeOf(() => shellWith({ mounts: { '/ws': files }, sockets: { '/ws/s': socket } }))).toBe(
    'E_MOUNT_CONFLICT',
  );
});

test('an option of a cap is checked', async () => {
  const good = { host: NAME, port: 443 };
  for (const wrong of [{ port: 0 }, { port: 65_536 }, { port: '443' }, { tls: 1 }, { path: '/' }, { addresses: ['10'] }, { limits: { bytes: 0 } }, { limits: { most: 1 } }]) // biome-ignore format: one line
    expect(await codeOf(async () => makeNetCap({ ...good, ...(wrong as object) })), JSON.stringify(wrong)).toBe(
      'invalid',
    );
  for (const host of ['Registry.example', 'registry.example.', '127.1', '*', 'a_b.example', undefined])
    expect(await codeOf(async () => makeNetCap({ ...good, host: host as string }))).toBe('E_HOST');
  for (const path of ['x', '', `/${'x'.repeat(107)}`, '/a\0b', 7])
    expect(await codeOf(async () => makeSocketCap({ path: path as string }))).toBe('invalid');
});

async function granted(cap: NetCap, terms: object = {}, at?: Vats) {
  const vats = at ?? (await openVats());
  if (at === undefined) onTestFinished(() => vats.close());
  const driven = driverOf<NetCap>(cap, { name: 'net' });
  const { cap: held, revoker } = (await vats.vat('a').turn(() => revocable(driven, terms as never) as never)) as unknown as Grant<NetCap>; // biome-ignore format: one line
  return { held: held as unknown as Far<NetCap>, revoker };
}

test('revoking the grant of a net cap cuts its connections, the revoker waits for that, and the job goes on', async () => {
  const at = await reachable({ answer: '' });
  const { held, revoker } = await granted(netCap({ port: at.port, tls: false }));
  const shell = await shellWith({ net: [held, netCap({ host: 'other.example', port: at.port, tls: false })] });
  const job = await shell.spawn(
    node(`
    const [cut, kept] = ["${NAME}", "other.example"].map((name) => connect(name + ":${at.port}", name));
    console.log("cut", (await cut).length > 0);
    console.log(status(await connect("${NAME}:${at.port}")));
    process.exit(await Promise.race([kept.then(() => 1), new Promise((done) => process.stdin.once("data", () => done(7)))]));`),
  );
  await expect.poll(() => [...at.said].sort()).toEqual(['other.example', NAME]);
  await E(revoker).revoke();
  await expect.poll(() => at.open.size).toBe(1);
  const told: Uint8Array[] = [];
  while (!Buffer.concat(told).toString().includes('403')) told.push((await job.stdout.next()) as Uint8Array);
  expect(Buffer.concat(told).toString()).toBe('cut true\n403 Forbidden\n');
  await job.write('go');
  expect((await job.wait()).status).toBe(7);
  // A later job has the other way only.
  const { stdout } = await shell.run(node(`console.log(status(await connect("${NAME}:${at.port}")))`));
  expect(stdout).toBe('403 Forbidden\n');
});

test('a grant that does more than end is not handed in', async () => {
  const { held } = await granted(netCap({ port: 443 }), { uses: 3 });
  expect(await codeOf(() => shellWith({ net: [held] }))).toBe('E_NET');
  const { held: ended, revoker } = await granted(netCap({ port: 443 }));
  await E(revoker).revoke();
  expect(await codeOf(() => shellWith({ net: [ended] }))).toBe('revoked');
});

test('a cap that is closed cuts its connections, and the end of a job closes those of the job', async () => {
  const at = await reachable({ answer: '' });
  const cap = netCap({ port: at.port, tls: false });
  const shell = await shellWith({ net: [cap] });
  const hold = node(
    `console.log(await connect("${NAME}:${at.port}", "x")); console.log(status(await connect("${NAME}:${at.port}")))`,
  );
  const job = await shell.spawn(hold);
  await expect.poll(() => at.said.length).toBe(1);
  await job.signal('KILL');
  await job.wait();
  await expect.poll(() => at.open.size).toBe(0);
  const again = await shell.spawn(hold);
  await expect.poll(() => at.said.length).toBe(2);
  await cap[Symbol.asyncDispose]();
  expect((await again.wait()).stdout).toMatch(/\n502 Bad Gateway\n$/);
});

test('connections, bytes and the time to connect are limited', async () => {
  const at = await reachable({ answer: '' });
  const run = async (limits: object, text: string, resolver = leadingTo('127.0.0.1')): Promise<string> => {
    const shell = await shellWith({ net: [netCap({ port: at.port, tls: false, limits }, resolver)] });
    return (await shell.run(node(`const at = "${NAME}:${at.port}"; ${text}; process.exit()`))).stdout;
  };
  expect(await run({ connections: 2 }, 'await hold(at); await hold(at); console.log(status(await connect(at)))')).toBe('502 Bad Gateway\n'); // biome-ignore format: one line
  expect(await run({ bytes: 10 }, 'await connect(at, "123456789012"); console.log(await connect(at))')).toMatch(
    /403 [\s\S]*has used up the bytes/,
  );
  expect(at.said.join('')).not.toContain('1234567890');
  const slow = { ...leadingTo(), resolve: () => new Promise<never>(() => {}) };
  expect(await run({ connectMs: 100 }, 'console.log(await connect(at))', slow)).toMatch(
    /502 [\s\S]*there is no connection in time/,
  );
  expect(await run({ idleMs: 100 }, 'console.log(status(await connect(at, "x")))')).toBe(
    '200 Connection established\n',
  );
});

test('a fault of a passage ends its connection, and nothing else', async () => {
  const at = await reachable();
  const broken = withPassage(
    { describe: async () => ({}) },
    {
      ...{ name: 'broken.example:1', at: { host: 'broken.example', port: 1 } },
      limits: { bytes: 1e6, connectMs: 5_000, idleMs: 5_000 },
      judge: undefined,
      connect: () => {
        throw new TypeError('a fault');
      },
    },
  );
  const shell = await shellWith({ net: [broken, netCap({ port: at.port, tls: false })] });
  const { stdout } = await shell.run(
    node(`
    const broken = await connect("broken.example:1");
    console.log(status(broken), broken.includes("a fault"));
    for (const odd of ["\\0", "\\x04\\x01\\0\\x50\\x7f\\0\\0\\x01\\0", "\\x05\\x01\\x02", "\\x05\\x01\\0\\x05\\x02\\0\\x01\\x7f\\0\\0\\x01\\0\\x01", "\\x16\\x03\\x01", "x".repeat(70000)])
      await ask(Buffer.from(odd, "latin1"));
    console.log((await connect("${NAME}:${at.port}", "x")).endsWith("welcome\\n"));`),
  );
  expect(stdout).toBe('502 Bad Gateway false\ntrue\n');
});

test('a program of a command has the way of its world, and the host knows where it leads and what it does', async () => {
  const at = await reachable();
  const cap = netCap({ port: at.port, tls: false });
  await using files = await openFsCap(scratch());
  const command = await makeCommandCap('/usr/bin/curl', {
    mounts: { '/ws': files.readOnly() },
    net: [cap],
    args: { forms: [], takes: () => true },
  });
  onTestFinished(() => command.close());
  expect((await command.run(['-sS', '--http0.9', `http://${NAME}:${at.port}/`])).stdout).toBe('welcome\n');
  expect(effectsOf(command)?.['run']).toEqual({ class: 'C', undo: 'impossible', outbound: true });
  expect(placeOf(command)?.mounts?.[`${NAME}:${at.port}`]).toEqual({ kind: 'address', name: `${NAME}:${at.port}` });
});

test('the ledger has what each job sent and received, by the name of the host, and nothing of its content', async () => {
  const at = await reachable({ answer: 'received-text' });
  const path = scratch();
  const store = await openStore({ path });
  const vats = await openVats({ store, definitions });
  const { held } = await granted(netCap({ port: at.port, tls: false }), {}, vats);
  const shell = await shellWith({ net: [held] });
  const driven = driverOf(shell, { name: 'shell' });
  const { cap } = (await vats.vat('b').turn(() => revocable(driven, {}) as never)) as unknown as Grant<ShellCap>;
  const ways = `await connect("${NAME}:${at.port}", "sent-text"); await connect("secret-name.example:443"); process.exit()`;
  expect((await E(cap).run(`cat > /tmp/x.js; node /tmp/x.js`, { stdin: `${CLIENT} (async () => { ${ways} })()` })).status).toBe(0); // biome-ignore format: one line
  await vats.close();
  await store.close();
  const lines: Record<string, unknown>[] = [];
  const closed = await openStore({ path });
  for await (const line of exportLedger(closed)) lines.push(JSON.parse(line));
  await closed.close();
  const [told] = lines.filter(({ net }) => net !== undefined);
  const grants = expect.stringMatching(/^\S+$/);
  expect(told?.['net']).toEqual({
    [`${NAME}:${at.port}`]: { grants, connections: 1, refused: 0, sent: 9, received: 13 },
  });
  expect(JSON.stringify(lines)).not.toMatch(/sent-text|received-text|secret-name/);
});

test('any chain of attenuations keeps what every one of them kept, and nothing comes back', async () => {
  const names = ['a', 'b', 'c', 'd', 'e'].map((name) => `${name}.example:443`);
  const caps = names.map((name) => netCap({ host: name.slice(0, -4), port: 443 }));
  const shell = await shellWith({ net: caps });
  await fc.assert(
    fc.asyncProperty(fc.array(fc.subarray(names), { minLength: 1, maxLength: 4 }), async (chain) => {
      let [at, left] = [shell, names];
      for (const wanted of chain) {
        const asked = wanted.every((name) => left.includes(name));
        const code = await codeOf(async () => {
          at = await at.attenuate({ net: wanted });
        });
        expect(code).toBe(asked ? 'ok' : 'E_NOT_ATTENUATION');
        if (asked) left = wanted;
        expect((await at.describe()).network).toEqual(left.length === 0 ? 'none' : left);
      }
    }),
    { numRuns: 40 },
  );
});
