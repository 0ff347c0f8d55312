/** Programs with net caps in a real host. The agent holds the shell and is the attacker. */

import { generateKeyPairSync, verify } from 'node:crypto';
import { rmSync } from 'node:fs';
import { createServer as createHttp } from 'node:http';
import { createServer as createHttps } from 'node:https';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import type { HttpCap, SignerCap } from '@hob/caps-net';
import type { CommandCap, ShellCap } from '@hob/caps-shell';
import type { Grant, SessionFace } from '@hob/host';
import { check, explain } from '@hob/manifest';
import { E, type Far } from '@hob/vat';
import { expect, onTestFinished } from 'vitest';
import { certificate } from '../../../../test/certificate.ts';
import { requires } from '../../../../test/needs.ts';
import { code, type PlanScene, planOf, planScene } from '../../test/plan.ts';
import { web } from '../../test/web.ts';

const test = requires('linux', 'cc', 'userns');

const TOKEN = 'ghp_INTIMATE+token/1';
const HEAD = 'version: 1\nroots: { project: project }\nsession:\n  mode: autonomous\n  caps:\n';
const SRC = '    src: { fs: project/src, can: [read, list, write] }\n';
const CURL = 'curl -s --noproxy "" -m 20';

const shell = (agent: Far<SessionFace>, name: string): Far<ShellCap> => E(agent).cap<ShellCap>(name) as unknown as Far<ShellCap>; // biome-ignore format: one line
const out = async (agent: Far<SessionFace>, name: string, text: string): Promise<string> =>
  ((await E(shell(agent, name)).run(text)) as { readonly stdout: string }).stdout;

/** A server that tells who asked, and never ends an answer of `/slow`. */
async function scene(caps: (port: number) => string) {
  const at = await planScene();
  let slow: () => void = () => {};
  const isSlow = new Promise<void>((resolve) => {
    slow = resolve;
  });
  const server = await web(({ url, headers }, response) => {
    if (url?.endsWith('/slow') === true) {
      response.write('begun\n');
      return slow();
    }
    response.end(`${url} ${headers.authorization ?? 'nobody'}\n`);
  });
  const manifest = `${HEAD}${SRC}${caps(server.port)}`;
  const sessions = await at.sessionsOf(planOf(manifest), { secret: (name) => (name === 'TOKEN' ? TOKEN : undefined) });
  const enter = async (name: string) => {
    const opened = await sessions.open(name);
    return { ...opened, agent: (await at.enter(opened.session.secret)).bootstrap };
  };
  return { ...at, server, manifest, enter, isSlow };
}

const grantOf = async (at: Pick<PlanScene, 'granter'>, session: string, petname: string): Promise<string> =>
  ((await E(at.granter).list({ session })) as readonly Grant[]).find((one) => one.petname === petname)?.id as string;

const HOSTS = (
  port: number,
): string => `    registry: { host: 127.0.0.1, port: ${port}, tls: false, addresses: [127.0.0.1] }
    ours: { forward: "http://127.0.0.1:${port}/acme/", methods: [GET], secret: TOKEN, addresses: [127.0.0.1] }
    with: { shell: sandbox, mounts: [src], net: [registry] }
    api: { shell: sandbox, mounts: [src], net: [ours] }
    without: { shell: sandbox, mounts: [src], net: none }
    get: { command: env, argv: [["=no_proxy=", "=NO_PROXY=", curl, -s, text]], net: [registry] }
`;

test('a program reaches what its net names and no more; another program of the session reaches nothing', async () => {
  const at = await scene(HOSTS);
  const { agent } = await at.enter('work');
  const url = `http://127.0.0.1:${at.server.port}/acme/x`;
  expect(await out(agent, 'with', `${CURL} ${url}`)).toBe('/acme/x nobody\n');
  expect(await out(agent, 'without', `${CURL} ${url}; echo $?`)).toBe('7\n');
  expect(await out(agent, 'api', `${CURL} ${url}`)).toBe('/acme/x Bearer ⟦secret⟧\n');
  expect(await out(agent, 'api', `${CURL} http://127.0.0.1:${at.server.port}/other`)).toContain('Hob: ');
  expect(await out(agent, 'api', `curl -s -p -x 127.0.0.1:1080 --noproxy "" ${url}; echo $?`)).toBe('56\n');
  expect(await out(agent, 'api', `grep -az INTIMATE /proc/*/environ /proc/*/cmdline | tr -d '\\0'; env | grep -c INTIMATE`)).toMatch(/^(?!.*ghp_INTIMATE\+)/); // biome-ignore format: one line
  const get = E(agent).cap<CommandCap>('get') as unknown as Far<CommandCap>;
  const got = (await E(get).run(['no_proxy=', 'NO_PROXY=', 'curl', '-s', url])) as { readonly stdout: string };
  expect(got.stdout).toBe('/acme/x nobody\n');
  expect(at.server.seen).toEqual(Array.from({ length: 3 }, () => 'GET /acme/x'));
});

test('revoking the net cap of a session cuts the connections of its jobs and of no other session; a later job has no way', async () => {
  const at = await scene(HOSTS);
  const [one, two] = [await at.enter('one'), await at.enter('two')];
  const url = `http://127.0.0.1:${at.server.port}`;
  for (const [name, petname] of [
    ['with', 'registry'],
    ['api', 'ours'],
  ] as const) {
    const job = E(shell(one.agent, name)).run(`${CURL} -N ${url}/acme/slow; echo cut $?; ${CURL} ${url}/acme/y`);
    await at.isSlow;
    await expect
      .poll(() => at.server.seen.filter((line) => line.endsWith('slow')).length)
      .toBe(name === 'with' ? 1 : 2);
    await E(at.granter).revoke({ grant: await grantOf(at, one.session.id, petname) });
    expect(((await job) as { readonly stdout: string }).stdout).toMatch(/cut (?:18|52|56)\nHob: /);
    expect(await out(one.agent, name, `${CURL} ${url}/acme/z`)).toContain('Hob: this job may not open');
    expect(await out(two.agent, name, `${CURL} ${url}/acme/z`)).toContain('/acme/z ');
  }
  expect(at.server.seen.filter((line) => /y|z/.test(line))).toEqual(['GET /acme/z', 'GET /acme/z']);
});

test('a child session reaches a host only if it was given the program and the net cap', async () => {
  const at = await planScene();
  const server = await web((_request, response) => response.end('reached\n'));
  const url = `http://127.0.0.1:${server.port}/`;
  const { children } = await at.open(
    `${HEAD}${SRC}${HOSTS(server.port).replace(', secret: TOKEN', '')}children: { both: { give: [with, registry] }, one: { give: [with] } }\n`,
  );
  const enter = async (name: string) => (await at.enter(children[name]?.secret as string)).bootstrap;
  expect(await out(await enter('both'), 'with', `${CURL} ${url}`)).toBe('reached\n');
  expect(await out(await enter('one'), 'with', `${CURL} ${url}`)).toContain('Hob: this job may not open');
});

test('a program with net waits for a person in the mode cautious, and one without does not', async () => {
  const at = await scene(HOSTS);
  const { agent } = await at.open(at.manifest.replace('mode: autonomous', 'mode: cautious').replace(', secret: TOKEN', ''), 'careful'); // biome-ignore format: one line
  expect(await out(agent, 'without', 'echo runs')).toBe('runs\n');
  const asked = out(agent, 'with', `${CURL} http://127.0.0.1:${at.server.port}/acme/x`);
  expect(await at.inbox()).toMatchObject([{ kind: 'call', asks: 'with' }]);
  expect(at.server.seen).toEqual([]);
  await at.grantAll();
  expect(await asked).toBe('/acme/x nobody\n');
});

test('a Unix socket is where the manifest says, for the programs that name it', async () => {
  const at = await planScene();
  const path = join(at.folder, 'echo.sock');
  const server = createServer((socket) => socket.on('error', () => {}).end('the socket\n'));
  await new Promise<void>((resolve) => server.listen(path, resolve));
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())));
  onTestFinished(() => rmSync(path, { force: true }));
  const { agent } = await at.open(`${HEAD}${SRC}    echo: { unix: ${path} }
    with: { shell: sandbox, mounts: [src], net: [echo] }
    without: { shell: sandbox, mounts: [src] }
`);
  const ask = `python3 -c 'import socket; s = socket.socket(socket.AF_UNIX); s.connect("/run/echo.sock"); print(s.recv(99).decode(), end="")' 2>&1 | tail -1`;
  expect(await out(agent, 'with', ask)).toBe('the socket\n');
  expect(await out(agent, 'without', ask)).toContain('No such file');
});

test('hob explain says what programs reach; hob check refuses what could not hold', () => {
  const plan = planOf(`${HEAD}${SRC}${HOSTS(443)}`);
  const said = Object.fromEntries(explain(plan, String).caps.map((one) => [one.cap, one]));
  expect(said['registry']?.does).toBe('lets programs connect to 127.0.0.1:443, with any bytes, also where it leads to 127.0.0.1'); // biome-ignore format: one line
  expect(said['ours']?.does).toMatch(/^lets programs send GET to http:\/\/127.0.0.1:443\/acme\/, with the secret TOKEN, .* which the host sends for them$/); // biome-ignore format: one line
  expect(said['with']?.weakest).toContain('It reaches registry, and can send there all that it reads.');
  expect(said['without']?.weakest).toContain('It has no network.');
  const wrong: Readonly<Record<string, RegExp>> = {
    'with: { shell: sandbox, mounts: [src], net: [registri] }': /there is no cap registri/,
    'with: { shell: sandbox, mounts: [src], net: [src] }': /src is no cap with host, unix or forward/,
    'a: { host: a.example, uses: 3 }': /not counted as uses/,
    'a: { host: a.example, always_human: true }': /does not wait for a person/,
    'a: { host: a.example, ca: CA }': /trusts nobody/,
    'a: { host: a.example, tls: false, client: { cert: C, key: K } }': /shown in TLS/,
    'a: { http: "http://a.example/", methods: [GET], ca: CA }': /without https/,
    'a: { unix: project/a.sock }': /is not a place/,
  };
  for (const [cap, why] of Object.entries(wrong)) {
    const text = `${HEAD}${SRC}    ${cap}\n`;
    const { plan: none, mistakes } = check([{ layer: 'project', file: 'hob.yaml', text }], { now: 0 });
    expect([cap, none, mistakes.some(({ wrong: what }) => why.test(what))]).toEqual([cap, undefined, true]);
  }
  const socket = (unix: string) => check([{ layer: 'project', file: 'hob.yaml', text: `version: 1\nroots: { project: /srv/project }\nsession:\n  caps: { a: { unix: ${unix} } }\n` }], { now: 0 }); // biome-ignore format: one line
  expect(socket('/srv/project/a.sock').mistakes[0]?.wrong).toMatch(/lies in the root project/);
  expect(socket('/srv/projects.sock').plan?.caps['a']).toMatchObject({ unix: '/srv/projects.sock' });
  const asked = `version: 1\nroots: { project: project }\nsession:\n  ask: { a: { host: a.example } }\n`;
  expect(check([{ layer: 'project', file: 'hob.yaml', text: asked }], { now: 0 }).mistakes[0]?.wrong).toMatch(/nobody is asked for this cap/); // biome-ignore format: one line
});

test('a lower layer takes ways away and adds none', () => {
  const own = `${SRC}${HOSTS(443)}`;
  /** The caps when a lower layer says the same, but for one part. */
  const caps = (part: string, instead: string) => {
    expect(own).toContain(part);
    const lower = `version: 1\nsession:\n  caps:\n${own.replace(part, instead)}`;
    const { plan, mistakes } = check([{ layer: 'user', file: 'user.yaml', text: `${HEAD}${own}` }, { layer: 'flags', file: 'flags.yaml', text: lower }], { now: 0 }); // biome-ignore format: one line
    return plan?.caps ?? mistakes;
  };
  const [withNet, hosts] = [
    'with: { shell: sandbox, mounts: [src], net: [registry] }',
    'methods: [GET], secret: TOKEN',
  ];
  expect(caps(withNet, 'with: { shell: sandbox, mounts: [src] }')).toMatchObject({ with: { net: [] } });
  expect(caps(withNet, withNet.replace('[registry]', '[registry, ours]'))).toMatchObject({
    with: { net: ['registry'] },
  });
  expect(caps('net: none', 'net: [registry]')).toMatchObject({ without: { net: [] } });
  expect(caps('host: 127.0.0.1, port: 443', 'host: evil.example, port: 443')).toMatchObject({ registry: { host: '127.0.0.1' } }); // biome-ignore format: one line
  const proxied = `${hosts}, proxy: { origin: "http://evil.example:1" }`;
  expect(caps(hosts, proxied)).not.toMatchObject({ ours: { proxy: {} } });
  const lower = `version: 1\nsession:\n  caps:\n${own.replace(hosts, proxied)}`;
  const { mistakes } = check([{ layer: 'user', file: 'user.yaml', text: `${HEAD}${own}` }, { layer: 'flags', file: 'flags.yaml', text: lower }], { now: 0 }); // biome-ignore format: one line
  expect(mistakes.map(({ wrong }) => wrong).join()).toMatch(/another ca, client or proxy/);
  expect(caps(hosts, hosts.replace('GET', 'GET, POST'))).toMatchObject({ ours: { methods: ['GET'] } });
  expect(caps('/acme/"', '/acme/a/"')).toMatchObject({ ours: { path: '/acme/a/' } });
  const denied = check([{ layer: 'user', file: 'u', text: `${HEAD}${SRC}${HOSTS(443)}` }, { layer: 'flags', file: 'f', text: 'version: 1\nsession: { deny: [registry] }\n' }], { now: 0 }); // biome-ignore format: one line
  expect(denied.plan?.caps['with']).toMatchObject({ net: [] });
});

test('a signer signs with a stored key after its context, and nobody reads the key', async () => {
  const at = await planScene();
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
  const sessions = await at.sessionsOf(planOf(`${HEAD}    release: { sign: ed25519, secret: KEY, context: "release " }\n`), { secret: () => pem }); // biome-ignore format: one line
  const { session } = await sessions.open('work');
  const agent = (await at.enter(session.secret)).bootstrap;
  const signer = E(agent).cap<SignerCap>('release') as unknown as Far<SignerCap>;
  const { signature } = (await E(signer).sign('v1')) as { readonly signature: string };
  expect(verify(null, Buffer.from('release v1'), publicKey, Buffer.from(signature, 'base64url'))).toBe(true);
  expect(JSON.stringify(await E(signer).describe())).not.toContain(pem.split('\n')[1]);
  expect(await code(E(signer as never as Far<{ key(): Promise<void> }>).key())).toBe('no-such-method');
});

test('an http cap trusts a stored authority, shows a stored client certificate, and goes through a proxy with a stored login', async () => {
  const at = await planScene();
  const [server, mine] = [certificate(), certificate('client.example')];
  const seen: string[] = [];
  const secure = createHttps({ ...server, requestCert: true, rejectUnauthorized: false }, (request, response) => {
    seen.push(String((request.socket as TLSSocket).getPeerCertificate().fingerprint256?.length));
    response.end('secure\n');
  });
  await new Promise<void>((resolve) => secure.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => new Promise<void>((resolve) => void secure.close(() => resolve()).closeAllConnections()));
  const { port } = secure.address() as AddressInfo;
  const asked: (string | undefined)[] = [];
  const proxy = createHttp();
  proxy.on('connect', ({ url, headers }, client: Socket) => {
    asked.push(url, headers['proxy-authorization']);
    const through = connect(port, '127.0.0.1', () => client.write('HTTP/1.1 200 OK\r\n\r\n'));
    client
      .on('error', () => {})
      .pipe(through)
      .on('error', () => {})
      .pipe(client);
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => new Promise<void>((resolve) => void proxy.close(() => resolve())));
  const origin = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const base = `http: "https://127.0.0.1:${port}/", methods: [GET], addresses: [127.0.0.1]`;
  const values: Readonly<Record<string, string>> = { CA: server.cert, CERT: mine.cert, KEY: mine.key, LOGIN: 'Basic YW5uOnBhc3M=' }; // biome-ignore format: one line
  const sessions = await at.sessionsOf(
    planOf(`${HEAD}    strange: { ${base} }
    known: { ${base}, ca: CA, client: { cert: CERT, key: KEY } }
    through: { ${base}, ca: CA, proxy: { origin: "${origin}", secret: LOGIN } }
`),
    { secret: (name) => values[name] },
  );
  const { session } = await sessions.open('work');
  const agent = (await at.enter(session.secret)).bootstrap;
  const text = async (name: string) => ((await E(E(agent).cap<HttpCap>(name) as unknown as Far<HttpCap>).getText('x')) as { readonly text: string }).text; // biome-ignore format: one line
  expect(await code(text('strange'))).toBe('E_TLS');
  expect([await text('known'), await text('through')]).toEqual(['secure\n', 'secure\n']);
  expect(seen).toEqual(['95', 'undefined']);
  expect(asked).toEqual([`127.0.0.1:${port}`, values['LOGIN']]);
});
