/** A git repository behind TLS, in a process of its own, for `net-door.ts`. Sends its port and its certificate. */
import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { certificate } from '../test/certificate.ts';

const folder = mkdtempSync(join(tmpdir(), 'hob-bench-git-'));
const repository = join(folder, 'repo');
mkdirSync(repository);
const git = (...args: readonly string[]): void => {
  const { status, stderr } = spawnSync('git', args, { cwd: repository, encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
};
git('init', '-q', '-b', 'main');
// 16 MiB that do not compress.
for (let n = 0; n < 256; n += 1) writeFileSync(join(repository, `file-${n}`), randomBytes(65_536));
git('add', '.');
git('-c', 'user.name=a', '-c', 'user.email=a@b.example', 'commit', '-q', '-m', 'first');
git('repack', '-adq');

const { cert, key } = certificate('git.example');
const server = createServer({ cert, key }, (request, response) => {
  const [path = '', query = ''] = (request.url ?? '').split('?');
  const child = spawn('git', ['http-backend'], {
    env: {
      ...{ PATH: process.env['PATH'], GIT_PROJECT_ROOT: folder, GIT_HTTP_EXPORT_ALL: '1' },
      ...{ PATH_INFO: path, QUERY_STRING: query, REQUEST_METHOD: request.method },
      ...{ CONTENT_TYPE: request.headers['content-type'] ?? '', REMOTE_ADDR: '127.0.0.1' },
      ...{ HTTP_CONTENT_ENCODING: String(request.headers['content-encoding'] ?? '') },
      ...{ GIT_PROTOCOL: String(request.headers['git-protocol'] ?? '') },
      ...{ GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'safe.directory', GIT_CONFIG_VALUE_0: '*' },
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  request.pipe(child.stdin);
  child.stdout.once('data', (first: Buffer) => {
    const end = first.indexOf('\r\n\r\n');
    const lines = first.subarray(0, end).toString().split('\r\n');
    response.writeHead(200, Object.fromEntries(lines.map((line) => line.split(/:\s*/, 2) as [string, string])));
    response.write(first.subarray(end + 4));
    child.stdout.pipe(response);
  });
});
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port, cert }));
process.once('disconnect', () => {
  rmSync(folder, { recursive: true, force: true });
  process.exit();
});
