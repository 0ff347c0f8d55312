/** Requests of a job that the host sends: the server gets the secret, and the job, which is the attacker, never does. */
import { spawnSync } from 'node:child_process';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createServer as createTls, type TLSSocket } from 'node:tls';
import type { World } from '@hob/caps-shell';
import { type Grant, revocable } from '@hob/revocable';
import { driverOf, E, openVats } from '@hob/vat';
import { expect, onTestFinished } from 'vitest';
import { certificate } from '../../../../test/certificate.ts';
import { requires } from '../../../../test/needs.ts';
import { NAME, netCap, shellWith } from '../../test/net.ts';
import { type Registry, registry } from '../../test/registry.ts';
import { LOOKED, searchFor } from '../../test/searcher.ts';
import { leadingTo } from '../../test/web.ts';
import type { HttpOptions } from '../http/http-cap.ts';
import { makeSecret } from '../secret/secret.ts';
import { openForwardCap } from './forward.ts';
import type { ForwardCap } from './net-cap.ts';

const test = requires('linux', 'cc', 'userns', 'git', 'python');

const PASSWORD = 'correct-Horse/battery+Staple=7';

async function privateRegistry(files = 0): Promise<Registry> {
  const at = await registry(files, `ann:${PASSWORD}`);
  onTestFinished(() => at[Symbol.asyncDispose]());
  return at;
}

function forwardCap(options: HttpOptions): ForwardCap & AsyncDisposable {
  const cap = openForwardCap({ addresses: ['127.0.0.1'], ...options }, leadingTo('127.0.0.1'));
  onTestFinished(() => cap[Symbol.asyncDispose]());
  return cap;
}

const repositoryOf = (at: Registry, more: Partial<HttpOptions> = {}): HttpOptions => ({
  origin: at.url,
  prefix: '/git',
  methods: ['GET', 'POST'],
  ca: at.cert,
  inject: { secret: makeSecret(() => PASSWORD), format: 'basic', user: 'ann' },
  ...more,
});

const inJob = async (world: Partial<World>, text: string) =>
  await (await shellWith({ ...world, limits: { wallMs: 120_000 } })).run(`cd /tmp; ${text}`);

const CLONE = (at: Registry): string => `git clone -q ${at.url}/git/repo copy`;

test('git clones, fetches and pushes a private repository by its https URL, and the password is nowhere in the job: memory of git while it works, variables, files, settings, /proc', async () => {
  const at = await privateRegistry(20);
  const net = [forwardCap(repositoryOf(at))];
  const { status, stdout, stderr } = await inJob(
    { net },
    `export GIT_TRACE=/tmp/trace GIT_TRACE_CURL=/tmp/trace-curl GIT_TRACE_PACKET=/tmp/trace-packet GIT_TRACE_REDACT=0
    ${CLONE(at)} 2>/tmp/errors & WATCHED=$! ${searchFor([PASSWORD])}; wait
    cd copy && cat readme; echo more >> readme; git checkout -q -b mine 2>>/tmp/errors
    git -c user.name=a -c user.email=a@b.example commit -q -a -m more; git push -q origin mine 2>>/tmp/errors; git ls-remote origin mine 2>>/tmp/errors
    git config --list --show-origin > /tmp/settings; env > /tmp/variables
    curl -s http://${NAME}:${at.port}/git/echo > /tmp/echo; grep -o 'Basic [^"]*' /tmp/echo
    wc -c < /tmp/trace-curl | tr -d '\\n'; echo ' bytes of trace'
    ${searchFor([PASSWORD])}`,
  );
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(stdout).toMatch(
    /^LOOKED True True True\ngit thing\n[0-9a-f]{40}\trefs\/heads\/mine\nBasic .*⟦secret⟧[\w=]*\n[1-9]\d{3,} bytes of trace\nLOOKED True True True\n$/,
  );
  const { stdout: branches } = spawnSync('git', ['-c', 'safe.directory=*', 'branch', '--list'], { cwd: at.repository, encoding: 'utf8' }); // biome-ignore format: one line
  expect(branches).toContain('mine');
  expect(new Set(at.logins)).toEqual(new Set([`Basic ${Buffer.from(`ann:${PASSWORD}`).toString('base64')}`]));
}, 240_000);

test('a program that crashes while it uses a login leaves no core file, and cannot raise the limit', async () => {
  const at = await privateRegistry(20);
  const { stdout } = await inJob(
    { net: [forwardCap(repositoryOf(at))] },
    `ulimit -c unlimited 2>/dev/null; ulimit -c; ${CLONE(at)} 2>/dev/null; cd copy
    git fetch -q & sleep 0.05; kill -ABRT $!; wait $!; sh -c 'kill -ABRT $$'; echo $?
    find / -xdev -name 'core*' -type f -size +0 -newer /tmp/copy/.git/HEAD 2>/dev/null; ${searchFor([PASSWORD])}`,
  );
  expect(stdout).toMatch(/^0\n134\nLOOKED True True True\n$/);
}, 240_000);

test('the search finds a value that is there: in a variable, in a file, in the memory of a program', async () => {
  const planted = `env="${PASSWORD}" sleep 60 & echo "${PASSWORD}" > /tmp/planted`;
  const { stdout } = await inJob({}, `${planted}; sleep 0.2; ${searchFor([PASSWORD])}`);
  for (const place of [/FOUND \/proc\/\d+\/environ/, /FOUND \/proc\/\d+\/mem/, /FOUND \/tmp\/planted/])
    expect(stdout).toMatch(place);
  expect(stdout.endsWith(LOOKED)).toBe(true);
}, 240_000);

test('without the cap, with a secret that is not stored, and without the secret there is no clone', async () => {
  const at = await privateRegistry();
  const none = await inJob({}, CLONE(at));
  expect(none.status).not.toBe(0);
  expect(at.seen).toEqual([]);
  const missing = await inJob({ net: [forwardCap(repositoryOf(at, { inject: { secret: makeSecret(() => undefined), header: 'authorization' } }))] }, CLONE(at)); // biome-ignore format: one line
  expect(missing.status).not.toBe(0);
  expect(at.seen).toEqual([]);
  const { inject: _, ...open } = repositoryOf(at);
  const asked = await inJob({ net: [forwardCap(open)] }, `GIT_TERMINAL_PROMPT=0 ${CLONE(at)}`);
  expect(asked.status).not.toBe(0);
  expect(at.logins).toEqual([undefined]);
}, 240_000);

test('a program reaches nothing else with it: other paths, methods, hosts and ports, a tunnel, its own login', async () => {
  const at = await privateRegistry();
  const net = [forwardCap(repositoryOf(at, { methods: ['GET'] }))];
  const base = `http://${NAME}:${at.port}`;
  const { stdout } = await inJob(
    { net },
    `ask() { curl -s -o /tmp/out -w '%{http_code} ' "$@"; }
    ask ${base}/plain; ask --path-as-is ${base}/git/../plain; ask --path-as-is ${base}/git/%2e%2e/plain; ask ${base}/gitx
    ask -X POST -d x ${base}/git/echo; ask http://other.example/git/; ask http://${NAME}:${at.port + 1}/git/echo; ask http://127.0.0.1:${at.port}/git/echo --noproxy ''
    ask -H 'host: other.example' ${base}/git/echo; ask -u eve:evil ${base}/git/echo; cat /tmp/out
    printf 'CONNECT ${NAME}:${at.port} HTTP/1.1\\r\\n\\r\\n' | timeout 5 bash -c 'exec 3<>/dev/tcp/127.0.0.1/1080; cat >&3; head -1 <&3'
    printf 'GET ${base}/git/echo HTTP/1.1\\r\\nhost: x\\r\\n\\r\\nGET /plain HTTP/1.1\\r\\nhost: x\\r\\n\\r\\nGET ${base}/plain HTTP/1.1\\r\\nhost: x\\r\\n\\r\\n' | timeout 5 bash -c 'exec 3<>/dev/tcp/127.0.0.1/1080; cat >&3; cat <&3' > /dev/null`,
  );
  const [codes = '', ...rest] = stdout.split('{');
  expect(codes.trim().split(' ')).toEqual(['403', '403', '403', '403', '405', '403', '403', '403', '200', '200']);
  expect(rest.join('{')).toContain('⟦secret⟧');
  expect(rest.join('{')).not.toContain('eve');
  expect(stdout).toContain('HTTP/1.1 403');
  expect(new Set(at.seen)).toEqual(new Set(['GET /git/echo']));
}, 120_000);

test('many requests at once, small ones that grow when they are decoded too, take no more memory of the host than two bodies', async () => {
  const at = await privateRegistry();
  const net = [forwardCap(repositoryOf(at, { limits: { bodyBytes: 2 ** 20 } }))];
  const url = `http://${NAME}:${at.port}/git/echo`;
  const { stdout } = await inJob(
    { net },
    `head -c 1048576 /dev/zero | gzip > bomb; head -c 1048577 /dev/zero | gzip > long; wc -c < bomb
    python3 - <<'END'
import select, socket
def begin(length, more=b""):
    s = socket.create_connection(("127.0.0.1", 1080))
    s.sendall(b"POST ${url} HTTP/1.1\\r\\nhost: x\\r\\ncontent-length: %d\\r\\n" % length + more + b"\\r\\n")
    return s
def status(s):
    return s.makefile("rb").readline().split()[1].decode()
def plain():
    s = begin(4096)
    s.sendall(bytes(4096))
    return status(s)
def sent(name):
    body = open(name, "rb").read()
    s = begin(len(body), b"content-encoding: gzip\\r\\n")
    s.sendall(body)
    return status(s)
# Bodies that never end hold room. One that came too late for it is begun again.
def hold(size):
    s = begin(2 ** 20)
    s.sendall(bytes(size))
    return s
def until(wanted, ask, *sizes):
    held = [[size, hold(size)] for size in sizes]
    for _ in range(500):
        for one in held:
            if select.select([one[1]], [], [], 0)[0]: one[1] = hold(one[0])
        said = ask()
        if said == wanted: break
    return said, held
said, held = until("503", lambda: sent("bomb"), 2 ** 20 - 1, 2 ** 19)
print("grows", said)
said, more = until("503", plain, 2 ** 19 - 100)
print("plain", said)
for _, s in held + more: s.close()
print("again", until("200", lambda: sent("bomb"))[0], "long", sent("long"))
END`,
  );
  expect(stdout).toMatch(/^10\d\d\ngrows 503\nplain 503\nagain 200 long 400\n$/);
}, 120_000);

test('two prefixes of one host have a secret each, and the path decides', async () => {
  const at = await privateRegistry();
  const other = makeSecret(() => 'another-Password-of-2');
  const net = [
    forwardCap(repositoryOf(at, { prefix: '/git/repo' })),
    forwardCap(repositoryOf(at, { prefix: '/git/echo', inject: { secret: other, header: 'authorization' } })),
  ];
  const { stdout, status } = await inJob({ net }, `${CLONE(at)}; cat copy/readme; curl -s http://${NAME}:${at.port}/git/echo >/dev/null`); // biome-ignore format: one line
  expect([stdout, status]).toEqual(['git thing\n', 0]);
  expect(at.logins.at(-1)).toBe('Bearer another-Password-of-2');
}, 120_000);

test('when its grant ends the requests of the job end with it, and the job goes on', async () => {
  const at = await privateRegistry();
  let open: (() => void) | undefined;
  const hanging = new Promise<void>((resolve) => {
    open = resolve;
  });
  const { cert, key } = certificate(NAME);
  const server: Server = createServer({ cert, key }, (_request, response) => {
    response.writeHead(200).write('first part\n');
    open?.();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close(() => {}));
  onTestFinished(() => server.closeAllConnections());
  const { port } = server.address() as AddressInfo;
  const cap = forwardCap(repositoryOf(at, { origin: `https://${NAME}:${port}`, prefix: '/', ca: cert }));
  const vats = await openVats();
  onTestFinished(() => vats.close());
  const driven = driverOf<ForwardCap>(cap, { name: 'forward' });
  const { cap: held, revoker } = (await vats.vat('a').turn(() => revocable(driven, {}) as never)) as unknown as Grant<ForwardCap>; // biome-ignore format: one line
  const shell = await shellWith({ net: [held], limits: { wallMs: 60_000 } });
  const job = await shell.spawn(`curl -sN http://${NAME}:${port}/x; echo "ended $?"; curl -s -o /dev/null -w '%{http_code}' http://${NAME}:${port}/x`); // biome-ignore format: one line
  await hanging;
  await job.stdout.next();
  await E(revoker).revoke();
  const { stdout } = await job.wait();
  expect(stdout).toMatch(/^first part\nended (?:18|56)\n403$/);
}, 120_000);

test('a client certificate of a net cap: the host shows it, the program speaks plain, and its key is nowhere in the job', async () => {
  const [server, mine] = [certificate(NAME), certificate('client.example')];
  const seen: (string | undefined)[] = [];
  const listening = createTls({ ...server, requestCert: true, rejectUnauthorized: false }, (socket: TLSSocket) => {
    const { fingerprint256 } = socket.getPeerCertificate();
    seen.push(fingerprint256);
    socket.on('error', () => {}).on('data', (bytes: Buffer) => socket.end(`hello ${bytes.toString()}`));
  });
  await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void listening.close(() => {}));
  const { port } = listening.address() as AddressInfo;
  const key = makeSecret(() => mine.key);
  const net = [netCap({ port, ca: makeSecret(() => server.cert), client: { cert: makeSecret(() => mine.cert), key } })];
  const [, line = ''] = mine.key.split('\n');
  const { stdout } = await inJob(
    { net },
    `exec 3<>/dev/tcp/127.0.0.1/1080; printf 'CONNECT ${NAME}:${port} HTTP/1.1\\r\\n\\r\\n' >&3; head -2 <&3 | head -1; printf me >&3; cat <&3; echo; ${searchFor([line])}`, // biome-ignore format: one line
  );
  expect(stdout).toBe(`HTTP/1.1 200 Connection established\r\nhello me\n${LOOKED}`);
  expect(seen).toEqual([expect.stringMatching(/^[0-9A-F:]{95}$/)]);
  for (const options of [
    { port, ca: server.cert },
    { port, tls: false, client: { cert: mine.cert, key } },
  ])
    expect(() => netCap(options)).toThrow(expect.objectContaining({ code: 'invalid' }));
}, 120_000);
