/** One HTTPS server on loopback that is a registry of npm, pip and cargo, and serves a repository of git. */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { certificate } from '../../../test/certificate.ts';
import { NAME } from './net.ts';

export interface Registry extends AsyncDisposable {
  readonly port: number;
  readonly url: string;
  readonly cert: string;
  /** The integrity of the npm package, as a lockfile has it. */
  readonly integrity: string;
  /** The folder of the repository that is served at `/git/repo`. */
  readonly repository: string;
  /** The targets of the requests. */
  readonly seen: string[];
  /** The headers `authorization` that came. */
  readonly logins: (string | undefined)[];
}

const PACKAGE = 'hob-test-thing';

function run(program: string, args: readonly string[], cwd: string): void {
  const done = spawnSync(program, args, {
    cwd,
    encoding: 'utf8',
    env: { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null' },
  });
  if (done.status !== 0) throw new Error(`${program} ${args.join(' ')}: ${done.stderr}`);
}

/** A package of each kind. It takes `tar` and `python3`. */
function makePackages(folder: string): Readonly<Record<'npm' | 'wheel' | 'crate', Buffer>> {
  const put = (path: string, text: string): void => {
    mkdirSync(join(folder, path, '..'), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  put('package/package.json', JSON.stringify({ name: PACKAGE, version: '1.0.0', main: 'index.js' }));
  put('package/index.js', 'module.exports = "npm thing";\n');
  run('tar', ['czf', 'npm.tgz', 'package'], folder);
  put(`${PACKAGE}-1.0.0/Cargo.toml`, `[package]\nname = "${PACKAGE}"\nversion = "1.0.0"\nedition = "2021"\n`);
  put(`${PACKAGE}-1.0.0/src/lib.rs`, 'pub fn thing() -> &\'static str { "cargo thing" }\n');
  run('tar', ['czf', 'crate.tgz', `${PACKAGE}-1.0.0`], folder);
  const info = 'hob_test_thing-1.0.0.dist-info';
  put('wheel/hob_test_thing.py', 'THING = "pip thing"\n');
  put(`wheel/${info}/METADATA`, `Metadata-Version: 2.1\nName: ${PACKAGE}\nVersion: 1.0.0\n`);
  put(`wheel/${info}/WHEEL`, 'Wheel-Version: 1.0\nGenerator: hob\nRoot-Is-Purelib: true\nTag: py3-none-any\n');
  put(`wheel/${info}/RECORD`, `hob_test_thing.py,,\n${info}/METADATA,,\n${info}/WHEEL,,\n${info}/RECORD,,\n`);
  run('python3', ['-m', 'zipfile', '-c', '../wheel.whl', 'hob_test_thing.py', info], join(folder, 'wheel'));
  const [npm, crate, wheel] = ['npm.tgz', 'crate.tgz', 'wheel.whl'].map((name) => readFileSync(join(folder, name))) as [Buffer, Buffer, Buffer]; // biome-ignore format: one line
  return { npm, crate, wheel };
}

/**
 * `files` more files of 64 KiB that do not compress are in the repository. `login` is asked of everybody who wants
 * `/git`; `/echo` tells all that was sent.
 */
export async function registry(files = 0, login?: string): Promise<Registry> {
  const folder = mkdtempSync(join(tmpdir(), 'hob-registry-'));
  const packages = makePackages(folder);
  const repository = join(folder, 'git', 'repo');
  mkdirSync(repository, { recursive: true });
  run('git', ['init', '-q', '-b', 'main'], repository);
  writeFileSync(join(repository, 'readme'), 'git thing\n');
  for (let n = 0; n < files; n += 1)
    writeFileSync(
      join(repository, `file-${n}`),
      createHash('shake256', { outputLength: 65_536 }).update(String(n)).digest(),
    );
  run('git', ['add', '.'], repository);
  run('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.example', 'commit', '-q', '-m', 'first'], repository);
  for (const setting of ['http.receivepack=true', 'receive.denyCurrentBranch=ignore'])
    run('git', ['config', ...setting.split('=')], repository);
  const { cert, key } = certificate(NAME);
  const seen: string[] = [];
  const logins: (string | undefined)[] = [];
  const server = createServer({ cert, key });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const url = `https://${NAME}:${port}`;
  const sha = (kind: string, bytes: Buffer, as: 'hex' | 'base64'): string => createHash(kind).update(bytes).digest(as);
  const integrity = `sha512-${sha('sha512', packages.npm, 'base64')}`;
  const answers: Readonly<Record<string, string | Buffer>> = {
    '/plain': 'curl thing\n',
    [`/npm/${PACKAGE}`]: JSON.stringify({
      name: PACKAGE,
      'dist-tags': { latest: '1.0.0' },
      versions: { '1.0.0': { name: PACKAGE, version: '1.0.0', dist: { tarball: `${url}/npm/thing.tgz`, integrity } } },
    }),
    '/npm/thing.tgz': packages.npm,
    [`/simple/${PACKAGE}/`]: `<a href="../../wheel/hob_test_thing-1.0.0-py3-none-any.whl">hob_test_thing-1.0.0-py3-none-any.whl</a>`,
    '/wheel/hob_test_thing-1.0.0-py3-none-any.whl': packages.wheel,
    '/index/config.json': JSON.stringify({ dl: `${url}/crate` }),
    [`/index/ho/b-/${PACKAGE}`]: JSON.stringify({ name: PACKAGE, vers: '1.0.0', deps: [], cksum: sha('sha256', packages.crate, 'hex'), features: {}, yanked: false }), // biome-ignore format: one line
    [`/crate/${PACKAGE}/1.0.0/download`]: packages.crate,
  };
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const target = request.url ?? '';
    seen.push(`${request.method} ${target}`);
    const [path = ''] = target.split('?');
    logins.push(request.headers.authorization);
    if (path === '/git/echo') return void response.end(JSON.stringify({ headers: request.headers, raw: login }));
    if (
      path.startsWith('/git/') &&
      login !== undefined &&
      request.headers.authorization !== `Basic ${Buffer.from(login).toString('base64')}`
    )
      return void response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end();
    if (path.startsWith('/git/')) return backend(join(folder, 'git'), request, response);
    const file = answers[path];
    const type = path.startsWith('/simple/') ? 'text/html' : path === `/npm/${PACKAGE}` ? 'application/json' : 'application/octet-stream'; // biome-ignore format: one line
    response.writeHead(file === undefined ? 404 : 200, { 'content-type': type }).end(file);
  });
  return {
    ...{ port, url, cert, integrity, repository, seen, logins },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Git's own server, as CGI. */
function backend(root: string, request: IncomingMessage, response: ServerResponse): void {
  const [path = '', query = ''] = (request.url ?? '').slice('/git'.length).split('?');
  const child = spawn('git', ['http-backend'], {
    env: {
      ...{
        PATH: process.env['PATH'],
        GIT_PROJECT_ROOT: root,
        GIT_HTTP_EXPORT_ALL: '1',
        PATH_INFO: path,
        QUERY_STRING: query,
      },
      ...{
        REQUEST_METHOD: request.method,
        CONTENT_TYPE: request.headers['content-type'] ?? '',
        REMOTE_ADDR: '127.0.0.1',
      },
      ...{
        HTTP_CONTENT_ENCODING: String(request.headers['content-encoding'] ?? ''),
        GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
      },
      ...(request.headers['content-length'] === undefined ? {} : { CONTENT_LENGTH: request.headers['content-length'] }),
      ...{ GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'safe.directory', GIT_CONFIG_VALUE_0: '*' },
    },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  request.pipe(child.stdin);
  child.stdin.on('error', () => {});
  let head = Buffer.alloc(0);
  child.stdout.on('data', function readHead(chunk: Buffer) {
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf('\r\n\r\n');
    if (end < 0) return;
    child.stdout.off('data', readHead);
    const headers = Object.fromEntries(head.subarray(0, end).toString().split('\r\n').map((line) => line.split(/:\s*/, 2) as [string, string])); // biome-ignore format: one line
    response.writeHead(Number(headers['Status']?.slice(0, 3) ?? 200), headers);
    response.write(head.subarray(end + 4));
    child.stdout.pipe(response);
  });
  child.once('close', () => response.end());
}
