import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openCheckpointSender } from './checkpoints.ts';

/** A place that answers with what `status` says, and keeps what it was sent. */
async function place(status: () => number) {
  const bodies: string[] = [];
  const arrived = { now: Promise.withResolvers<void>() };
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => {
      body += chunk.toString();
    });
    request.on('end', () => {
      const code = status();
      response.writeHead(code, code === 302 ? { location: '/elsewhere' } : {}).end();
      if (code === 200) {
        bodies.push(`${request.url} ${body}`);
        arrived.now.resolve();
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { bodies, arrived: () => arrived.now.promise, host: `127.0.0.1:${(server.address() as AddressInfo).port}` };
}

test('each checkpoint is written whole at the end of the file, also after one that a kill truncated', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'hob-out-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'checkpoints');
  writeFileSync(file, 'cut sh');
  const said: string[] = [];
  const send = openCheckpointSender(file, (line) => void said.push(line));
  await send('one\n');
  await send('two\n');
  expect(readFileSync(file, 'utf8')).toBe('cut sh\none\n\ntwo\n\n');
  expect(said).toEqual([]);
});

test('a checkpoint that cannot be written is reported without the path, and tried again', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'hob-out-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'deep', 'checkpoints');
  const said: string[] = [];
  const again = Promise.withResolvers<void>();
  const send = openCheckpointSender(
    file,
    (line) => {
      said.push(line);
      if (line.endsWith('again')) again.resolve();
    },
    { retryMs: 20 },
  );
  await send('one\n');
  expect(said[0]).toMatch(/could not be sent to their file \(ENOENT\): tried again/);
  expect(said.join()).not.toContain(folder);
  mkdirSync(join(folder, 'deep'));
  await again.promise;
  expect(readFileSync(file, 'utf8')).toBe('one\n\n');
});

test('each checkpoint is sent to a URL by POST; a refusal, a redirect or a missing server is reported, and the latest checkpoint is tried again', async () => {
  let status = 500;
  const said: string[] = [];
  const { bodies, arrived, host } = await place(() => status);
  const send = openCheckpointSender(`http://${host}/hook?token=geheim`, (line) => void said.push(line), {
    retryMs: 20,
  });
  await send('one\n');
  status = 302;
  await send('two\n');
  expect(said.slice(0, 2)).toEqual([expect.stringContaining('(HTTP 500)'), expect.stringContaining('(HTTP 302)')]);
  status = 200;
  await arrived();
  expect(bodies[0]).toBe('/hook?token=geheim two\n');
  expect(said.join()).not.toContain('geheim');
  const none: string[] = [];
  const ended = new AbortController();
  await openCheckpointSender('http://127.0.0.1:1/x', (line) => void none.push(line), { end: ended.signal })('one\n');
  ended.abort();
  expect(none).toEqual([expect.stringMatching(/127\.0\.0\.1:1 \((?:ECONNREFUSED|no connection|.*)\)/)]);
});

test('a URL with a user name and a malformed URL are refused', () => {
  for (const wrong of ['https://user:word@example.com/', 'http://'])
    expect(() => openCheckpointSender(wrong, () => {})).toThrow(expect.objectContaining({ code: 'invalid' }));
});
