/**
 * `@hob/vat/peer` in a browser: bundled from the installed package as a page's author does, loaded by Chromium, and
 * connected to a real host, where it calls a cap of its session.
 *
 * A host lets in pages of its own origin only. So a small server stands in front of it, as a reverse proxy does: it
 * serves the page and passes the connection on.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import fs from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, type TestContext, test } from 'vitest';
import { requires } from './needs.ts';
import { CHROMIUM, chromiumOptions } from './packed/chromium.ts';
import { type Installed, installed } from './packed/installed.ts';
import { newUser } from './packed/user.ts';
import { ROOT } from './sources.ts';

const run = promisify(execFile);

/** The limit of a page, compressed. */
const MOST_BYTES = 25_000;

let made: Installed | undefined;
beforeAll(async () => {
  made = await installed();
}, 400_000);
afterAll(() => made?.remove());

const folderOf = (context: TestContext): string =>
  made?.folder ?? context.skip('needs the package registry, for what Hob depends on');

/** The page. It says what it saw to the server that it came from. */
const PAGE = `
import { captp, E, fromBrowserSocket } from '@hob/vat/peer';
const secret = location.hash.slice(1);
const socket = new WebSocket(new URL('/', location.href).href.replace('http', 'ws'), ['hob.1', 'hob.secret.' + secret]);
const { bootstrap: session, close } = captp(fromBrowserSocket(socket));
const say = (said) => fetch('/said', { method: 'POST', body: JSON.stringify(said) });
const greeter = E(session).cap('greeter');
Promise.all([E(session).caps(), E(greeter).greet('page'), E(greeter).secret().catch((error) => error.code)])
  .then(say, (error) => say([String(error)])).then(() => close());
`;

const bundlers = {
  esbuild: async (site: string): Promise<string> => {
    const out = join(site, 'out');
    const args = ['--bundle', '--minify', '--format=esm', '--platform=browser', `--outfile=${join(out, 'page.js')}`];
    await run(process.execPath, [join(ROOT, 'node_modules', 'esbuild', 'bin', 'esbuild'), 'page.js', ...args], {
      cwd: site,
    });
    fs.copyFileSync(join(site, 'index.html'), join(out, 'index.html'));
    return out;
  },
  vite: async (site: string): Promise<string> => {
    const vite = join(ROOT, 'node_modules', 'vite', 'bin', 'vite.js');
    const env = { ...process.env, NODE_ENV: 'production' };
    await run(process.execPath, [vite, 'build', '--base', './', '--outDir', 'out'], { cwd: site, env });
    return join(site, 'out');
  },
};

/** Bundles the page in a folder below the installed packages. Returns where it is, and the bytes of its code. */
async function site(
  folder: string,
  by: keyof typeof bundlers,
): Promise<{ readonly out: string; readonly bytes: number }> {
  const source = join(folder, `site-${by}`);
  fs.mkdirSync(source, { recursive: true });
  fs.writeFileSync(join(source, 'page.js'), PAGE);
  fs.writeFileSync(join(source, 'index.html'), '<!doctype html><script type="module" src="./page.js"></script>');
  const out = await bundlers[by](source);
  const code = fs.readdirSync(out, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.js'));
  const text = code.map((file) => fs.readFileSync(join(out, file))).join('\n');
  // A remaining import would be a request to the server. It asks Node for its checks only where there is Node.
  expect(/\b(?:from|import|require)\s*\(?\s*["'][^"'.]+["']/.exec(text)?.[0]).toBe(undefined);
  return { out, bytes: gzipSync(text, { level: 9 }).length };
}

/** Opens a host, and a server in front of it that serves the folder `out`. Ends when the page has said what it saw. */
const host = (out: string): string => `
import '@hob/host/lockdown';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { openHost } from '@hob/host';
import { driver, E } from '@hob/vat';
const host = await openHost({ stateDir: './hob-state' });
await host.offer('greeter', driver({ greet: async ([name]) => 'hello ' + name, secret: async () => 'not granted' }));
const { granter } = await host.ensureGranter('alice');
const session = await host.openSession({ name: 'page', granters: ['alice'] });
await E(granter).grant(session.id, 'greeter', 'greeter', { uses: 5, for: 600_000, methods: ['greet'] });
const inner = new URL((await host.serve()).url);
const said = Promise.withResolvers<string>();
const front = createServer(async (request, response) => {
  if (request.url === '/said') {
    let text = '';
    for await (const part of request) text += part;
    response.end();
    return said.resolve(text);
  }
  const path = request.url === '/' ? '/index.html' : String(request.url);
  const type = path.endsWith('.js') ? 'text/javascript' : 'text/html';
  const body = await readFile(${JSON.stringify(out)} + path).catch(() => undefined);
  response.writeHead(body === undefined ? 404 : 200, { 'content-type': type, connection: 'close' }).end(body);
});
front.on('upgrade', ({ url, rawHeaders }, socket, head) => {
  const back = connect(Number(inner.port), '127.0.0.1', () => {
    const lines = ['GET ' + url + ' HTTP/1.1'];
    for (let n = 0; n < rawHeaders.length; n += 2) {
      const name = String(rawHeaders[n]);
      const own = /^host$/i.test(name) ? inner.host : /^origin$/i.test(name) ? 'http://' + inner.host : rawHeaders[n + 1];
      lines.push(name + ': ' + own);
    }
    back.write(lines.join('\\r\\n') + '\\r\\n\\r\\n');
    back.write(head);
    socket.pipe(back).pipe(socket);
  });
  for (const end of [socket, back]) end.on('error', () => {});
});
front.listen(0, '127.0.0.1', () => {
  const { port } = front.address() as { port: number };
  console.log('http://127.0.0.1:' + port + '/#' + session.secret);
});
console.log(await said.promise);
front.closeAllConnections();
front.close();
await host.close();
`;

async function visit(folder: string, out: string): Promise<unknown> {
  let browser: ChildProcess | undefined;
  const home = join(folder, 'browser');
  try {
    const user = newUser(folder, 'node only');
    const { stdout, stderr } = await user.run(host(out), (text) => {
      const url = /^http:.*$/m.exec(text)?.[0];
      if (browser !== undefined || url === undefined || !text.endsWith('\n')) return;
      fs.mkdirSync(home, { recursive: true });
      const args = [...chromiumOptions(home), '--remote-debugging-pipe', url];
      const stdio = ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] as const;
      // A group of its own, so that all processes of the browser end together.
      browser = spawn(CHROMIUM, args, {
        stdio: [...stdio],
        detached: true,
        env: { ...process.env, HOME: home, TMPDIR: home },
      });
    });
    expect(stderr).toBe('');
    return JSON.parse(stdout.trim().split('\n').at(-1) as string);
  } finally {
    if (browser?.pid !== undefined) {
      const over = new Promise((done) => browser?.once('close', done));
      process.kill(-browser.pid, 'SIGKILL');
      await over;
    }
  }
}

for (const by of ['esbuild', 'vite'] as const) {
  test(`bundled by ${by} from the installed package it needs nothing of Node, and is small`, async (context) => {
    const { bytes } = await site(folderOf(context), by);
    console.log(`@hob/vat/peer in a page, by ${by}: ${bytes} bytes (gzip)`);
    expect(bytes).toBeLessThanOrEqual(MOST_BYTES);
  });

  requires('chromium')(
    `a page bundled by ${by} enters a session of a host in Chromium and calls its cap`,
    async (context) => {
      const folder = folderOf(context);
      const { out } = await site(folder, by);
      expect(await visit(folder, out)).toEqual([['greeter'], 'hello page', 'no-such-method']);
    },
  );
}
