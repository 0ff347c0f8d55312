/** What the relay judges is what the model gets, and the first foreign tool ends it. */
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { offeredTools } from '../offered-tools.ts';
import type { Wire } from '../wires.ts';
import { openRelay, type Relay } from './relay.ts';

interface Got {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

interface Scene {
  readonly relay: Relay;
  readonly port: number;
  /** The path that the host puts before its own. */
  readonly prefix: string;
  /** The requests that reached the model. */
  readonly got: Got[];
  readonly foreign: string[][];
  readonly said: string[];
  post(body: string | Buffer, headers?: Readonly<Record<string, string>>, path?: string): Promise<{ readonly status: number; readonly text: string }>; // biome-ignore format: one line
  /** Writes bytes on one connection, and returns all that comes until it is closed. */
  raw(...parts: readonly (string | Buffer)[]): Promise<string>;
}

const plainAnswer = (_request: IncomingMessage, response: ServerResponse): void => {
  response.end('{"ok":true}');
};

async function scene(answer = plainAnswer, wire: Wire = 'anthropic'): Promise<Scene> {
  const got: Got[] = [];
  const model = createServer(async (incoming, response) => {
    let body = '';
    for await (const part of incoming) body += part;
    got.push({ method: incoming.method ?? '', url: incoming.url ?? '', headers: incoming.headers, body });
    response.sendDate = false;
    answer(incoming, response);
  });
  await new Promise<void>((done) => model.listen(0, '127.0.0.1', done));
  const foreign: string[][] = [];
  const said: string[] = [];
  const relay = await openRelay({
    upstream: new URL(`http://127.0.0.1:${(model.address() as AddressInfo).port}/base/`),
    wire,
    foreignIn: (body) => offeredTools(body).filter((tool) => tool !== 'ours'),
    onForeign: (tools) => foreign.push([...tools]),
    say: (text) => said.push(text),
  });
  onTestFinished(async () => {
    await relay.close();
    model.closeAllConnections();
    await new Promise((done) => model.close(done));
  });
  const { port, pathname: prefix } = new URL(relay.url);
  const post: Scene['post'] = (body, headers = {}, path = '/v1/messages?beta=true') =>
    new Promise((resolve, reject) => {
      const call = request(
        {
          host: '127.0.0.1',
          port,
          method: 'POST',
          path: `${prefix}${path}`,
          agent: false,
          headers: { 'content-type': 'application/json', ...headers },
        },
        (response) => {
          // biome-ignore format: one line
          let text = '';
          response.setEncoding('utf8').on('data', (part) => (text += part));
          response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
        },
      );
      call.on('error', reject);
      call.end(body);
    });
  const raw: Scene['raw'] = (...parts) =>
    new Promise((resolve) => {
      let text = '';
      const socket = connect(Number(port), '127.0.0.1', () => {
        for (const part of parts) socket.write(part);
      });
      socket.setEncoding('utf8').on('data', (part) => (text += part));
      socket.on('error', () => {});
      socket.on('close', () => resolve(text));
    });
  return { relay, port: Number(port), prefix, got, foreign, said, post, raw };
}

const OURS = '{"tools":[{"name":"ours"}],"messages":[ ]}';
const FOREIGN = '{"tools":[{"name":"ours"},{"name":"Bash"}],"messages":[]}';

test('a request with our tools reaches the model byte for byte, with its keys, its path and its query', async () => {
  const { post, got } = await scene();
  const { status, text } = await post(OURS, { 'x-api-key': 'k', authorization: 'Bearer t', 'X-Odd': 'yes' });
  expect({ status, text }).toEqual({ status: 200, text: '{"ok":true}' });
  expect(got).toEqual([expect.objectContaining({ method: 'POST', url: '/base/v1/messages?beta=true', body: OURS })]);
  expect(got[0]?.headers).toMatchObject({ 'x-api-key': 'k', authorization: 'Bearer t', 'x-odd': 'yes', 'content-length': String(OURS.length) }); // biome-ignore format: one line
});

test('a foreign tool ends the run: its request is not sent, and no later one is', async () => {
  const { post, got, foreign } = await scene();
  expect((await post(FOREIGN)).status).toBe(403);
  expect((await post(OURS)).status).toBe(403);
  expect(got).toEqual([]);
  expect(foreign).toEqual([['Bash']]);
});

test('answers pass piece by piece while the model is still writing', async () => {
  let finish = (): void => {};
  const { port, prefix } = await scene((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write('data: 1\n\n');
    finish = () => response.end('data: 2\n\n');
  });
  const parts: string[] = [];
  await new Promise<void>((done) => {
    const call = request(
      { host: '127.0.0.1', port, method: 'POST', path: `${prefix}/v1/messages`, agent: false },
      (response) => {
        // biome-ignore format: one line
        response.setEncoding('utf8').on('data', (part) => {
        // The model ends its answer only when the first piece has come through.
        if (parts.push(part) === 1) finish();
      });
        response.on('end', done);
      },
    );
    call.end(OURS);
  });
  expect(parts.join('')).toBe('data: 1\n\ndata: 2\n\n');
});

test('a body in chunks is judged whole, and sent with a length', async () => {
  const { raw, got, prefix, port, foreign } = await scene();
  const head = `POST ${prefix}/v1/messages HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n`;
  const chunks = (text: string): string =>
    `${[...text].map((sign) => `1;x=y\r\n${sign}\r\n`).join('')}0\r\ntrailer: x\r\n\r\n`;
  expect(await raw(head, chunks(OURS))).toMatch(/^HTTP\/1.1 200/);
  expect(got.map(({ body, headers }) => ({ body, length: headers['content-length'], coding: headers['transfer-encoding'] }))).toEqual([{ body: OURS, length: String(OURS.length), coding: undefined }]); // biome-ignore format: one line
  expect(await raw(head, chunks(FOREIGN))).toMatch(/^HTTP\/1.1 403/);
  expect(foreign).toEqual([['Bash']]);
});

test('every request of a connection is judged, also those that come before the answer to the first', async () => {
  const { raw, got, prefix, port, foreign } = await scene();
  const one = (body: string, more = ''): string =>
    `POST ${prefix}/v1/messages HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n${more}content-length: ${body.length}\r\n\r\n${body}`;
  const text = await raw(one(OURS) + one(FOREIGN, 'connection: close\r\n'));
  expect(foreign).toEqual([['Bash']]);
  expect(text).toMatch(/HTTP\/1.1 (?:403|502)/);
  expect(got.filter(({ body }) => body.includes('Bash'))).toEqual([]);
});

test('a request that two readers divide differently reaches nobody', async () => {
  const { raw, got, prefix, port, foreign } = await scene();
  const begin = `POST ${prefix}/v1/messages HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n`;
  const hidden = `POST /base/v1/messages HTTP/1.1\r\nhost: x\r\ncontent-length: ${FOREIGN.length}\r\n\r\n${FOREIGN}`;
  for (const head of [
    `content-length: ${OURS.length}\r\ntransfer-encoding: chunked\r\n\r\n`,
    `content-length: 2\r\ncontent-length: ${OURS.length}\r\n\r\n`,
    'transfer-encoding: chunked, identity\r\n\r\n',
    'transfer-encoding : chunked\r\n\r\n',
    'content-length: +5\r\n\r\n',
    'transfer-encoding: xchunked\r\n\r\n',
  ])
    expect(await raw(begin + head + OURS + hidden), head).toMatch(/^HTTP\/1.1 400/);
  expect(got).toEqual([]);
  expect(foreign).toEqual([]);
});

test('what cannot be judged is not sent: compressed, too large, no JSON, or with a key twice', async () => {
  const { post, got, said, raw, prefix, port, foreign } = await scene();
  expect((await post(gzipSync(FOREIGN), { 'content-encoding': 'gzip' })).text).toMatch(/compressed/);
  expect((await post(FOREIGN, { 'content-encoding': 'br, identity' })).status).toBe(400);
  expect((await post('{"tools":[],"tools":[{"name":"Bash"}]}')).text).toMatch(/twice/);
  expect((await post('tools=Bash')).text).toMatch(/no JSON/);
  expect((await post(Buffer.from(FOREIGN, 'utf16le'))).status).toBe(400);
  const head = `POST ${prefix}/v1/messages HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n`;
  expect(await raw(`${head}content-length: ${40 * 1024 * 1024}\r\n\r\n{`)).toMatch(/larger than 32 MiB/);
  const mebibyte = `100000\r\n${' '.repeat(0x100000)}\r\n`;
  expect(await raw(`${head}transfer-encoding: chunked\r\n\r\n`, ...Array.from({ length: 34 }, () => mebibyte))).toMatch(/larger than 32 MiB|^$/); // biome-ignore format: one line
  expect(got).toEqual([]);
  expect(foreign).toEqual([]);
  for (const text of said) expect(text).toMatch(/^hob: a request to the model was not sent: /);
  expect(said.join()).not.toMatch(/Bash/);
});

test('only the requests of the API pass, at the address that the host was given', async () => {
  const { post, raw, got, prefix, port } = await scene();
  for (const path of ['/v1/messages/batches', '/v1/files', '/v1/messages/', '/v1/../v1/messages', '//v1/messages', '/v1/messages%2f', '/v1/messages#x', '/V1/messages']) // biome-ignore format: one line
    expect((await post(OURS, {}, path)).status, path).toBe(404);
  expect((await post(OURS, { host: `localhost:${port}` })).status).toBe(404);
  expect((await post(OURS, { host: 'evil.example' })).status).toBe(404);
  const text = (line: string): Promise<string> =>
    raw(
      `${line} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nconnection: close\r\ncontent-length: ${OURS.length}\r\n\r\n${OURS}`,
    );
  for (const line of ['POST /v1/messages', `POST ${prefix}x/v1/messages`, `PUT ${prefix}/v1/messages`, `POST http://127.0.0.1:${port}${prefix}/v1/messages`]) // biome-ignore format: one line
    expect(await text(line), line).toMatch(/^HTTP\/1.1 404/);
  expect(await raw(`CONNECT api.example:443 HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n\r\n`)).toMatch(/^HTTP\/1.1 501/);
  expect(await raw(`GET ${prefix}/v1/models HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n`)).toMatch(/^HTTP\/1.1 501/); // biome-ignore format: one line
  expect(await raw(`GET ${prefix}/v1/models HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{}`)).toMatch(/GET with a body/); // biome-ignore format: one line
  expect(got).toEqual([]);
});

test('the host is not led elsewhere, by a redirect or another protocol', async () => {
  const { post } = await scene((_request, response) => void response.writeHead(307, { location: 'https://evil.example/v1/messages' }).end()); // biome-ignore format: one line
  const { status, text } = await post(OURS);
  expect({ status, text }).toEqual({ status: 502, text: expect.stringMatching(/leads elsewhere/) });
});

test('headers of a connection are not passed on', async () => {
  const { post, got } = await scene();
  await post(OURS, { connection: 'close, x-hidden', 'x-hidden': '1', te: 'trailers', 'proxy-authorization': 'p' });
  expect(got[0]?.headers['x-hidden']).toBeUndefined();
  expect(got[0]?.headers['te']).toBeUndefined();
  expect(got[0]?.headers['proxy-authorization']).toBeUndefined();
});

test('requests that were under way end when a foreign tool comes', async () => {
  let cut: () => void = () => {};
  const ended = new Promise<void>((done) => (cut = done));
  let reached: () => void = () => {};
  const begun = new Promise<void>((done) => (reached = done));
  const { post } = await scene((_request, response) => {
    reached();
    response.on('close', cut);
  });
  const first = post(OURS).then(
    ({ status }) => status,
    () => 'cut',
  );
  await begun;
  expect((await post(FOREIGN)).status).toBe(403);
  await ended;
  expect(await first).not.toBe(200);
});

test('a model that is away is a clear error, and an address that is not safe is refused', async () => {
  const options = { wire: 'chat', foreignIn: () => [], onForeign: () => {}, say: () => {} } as const;
  for (const address of ['http://model.example/v1', 'ftp://model.example', 'https://u:p@model.example', 'https://model.example/?key=1']) // biome-ignore format: one line
    await expect(openRelay({ ...options, upstream: new URL(address) }), address).rejects.toThrow(
      /address of the model/,
    );
  const relay = await openRelay({ ...options, upstream: new URL('http://127.0.0.1:1/v1') });
  const answer = await fetch(`${relay.url}/chat/completions`, { method: 'POST', body: '{}', headers: { connection: 'close' } }); // biome-ignore format: one line
  expect({ status: answer.status, text: await answer.text() }).toEqual({ status: 502, text: expect.stringMatching(/cannot be reached/) }); // biome-ignore format: one line
  await relay.close();
});
