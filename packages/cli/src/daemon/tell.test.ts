/** A request is told on the desktop and to a webhook, by the real command line. The attacker is the agent that asks. */
import { createHmac } from 'node:crypto';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { agentIn, type HobHome, hobHome } from '../../test/hob.ts';

const KEY = Buffer.alloc(32, 7);

function keyFile(hob: HobHome): string {
  const file = join(hob.folder, 'webhook.key');
  writeFileSync(file, `whsec_${KEY.toString('base64')}\n`, { mode: 0o600 });
  return file;
}

/** A program that writes its arguments into a file, one a line. */
function notifier(hob: HobHome): { readonly program: string; shown(): string } {
  const [program, file] = [join(hob.folder, 'notifier'), join(hob.folder, 'shown')];
  writeFileSync(program, `#!/bin/sh\nprintf '%s\\n' "$@" >> '${file}'\n`);
  chmodSync(program, 0o755);
  writeFileSync(file, '');
  return { program, shown: () => readFileSync(file, 'utf8') };
}

test('a request is posted, signed, and shown on the desktop, without a word of the agent; a receiver that hangs delays neither turns nor the end', async () => {
  const hob = hobHome();
  const posts: { readonly body: string; readonly headers: Readonly<Record<string, unknown>> }[] = [];
  const server = createServer((request) => {
    let body = '';
    request.on('data', (part: Buffer) => {
      body += String(part);
    });
    // It never answers.
    request.on('end', () => posts.push({ body, headers: request.headers }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(() => resolve()));
  });
  const { program, shown } = notifier(hob);
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hob?INTIMATE`;
  const manifest = join(hob.folder, 'config/hob.yaml');
  const host = hob.start('serve', '--manifest', manifest, '--notify-with', program, '--webhook', url, '--webhook-key-file', keyFile(hob)); // biome-ignore format: one line
  await host.shows(/see its requests/);
  const agent = hob.start('start', '--', ...agentIn(hob.folder));
  const arrived = async (): Promise<typeof posts> => {
    await new Promise((resolve) => setTimeout(resolve, 20));
    return posts;
  };
  const [post] = await hob.until(arrived, ({ length }) => length > 0);
  const body = JSON.parse(post!.body) as Record<string, unknown>;
  expect(body).toEqual({ type: 'request', request: 'R1', session: 'S1', cap: 'edit', kind: 'grant', asked: expect.any(Number), expires: expect.any(Number) }); // biome-ignore format: one line
  const { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': signature } = post!.headers;
  expect(signature).toBe(`v1,${createHmac('sha256', KEY).update(`${id}.${time}.${post!.body}`).digest('base64')}`);
  await hob.until(async () => shown(), (text) => text.includes('--follow')); // biome-ignore format: one line
  expect(shown()).toBe('--\nHob\nR1: session S1 asks for edit. Answer it with hob inbox --follow\n');
  expect(posts.map((each) => each.body).join() + shown()).not.toMatch(/first|a\.txt|hob grant|digest/);

  expect((await hob.run('grant', 'R1')).code).toBe(0);
  await agent.shows(/wrote first/);
  host.child.kill('SIGTERM');
  expect(await host.ended).toBe(0);
  expect(host.out + host.err + (await hob.run('ledger', 'verify')).err).not.toContain('INTIMATE');
  agent.child.kill('SIGTERM');
  await agent.ended;
}, 120_000);

test('a way that cannot work is refused before anything is served, with its remedy', async () => {
  const hob = hobHome();
  const key = keyFile(hob);
  const manifest = ['--manifest', join(hob.folder, 'config/hob.yaml')];
  const open = join(hob.folder, 'open.key');
  writeFileSync(open, readFileSync(key), { mode: 0o644 });
  const inRoot = join(hob.folder, 'config/project/webhook.key');
  writeFileSync(inRoot, readFileSync(key), { mode: 0o600 });
  for (const [args, code, why] of [
    [['--notify-with', 'no-such-program'], 1, /there is no program no-such-program on this machine/],
    [['--webhook', 'https://example.org/x'], 2, /go together/],
    [['--webhook', 'http://example.org/x', '--webhook-key-file', key], 2, /takes an https URL/],
    [
      ['--webhook', 'https://example.org/x', '--webhook-key-file', open],
      1,
      /others may read the key of the webhook: chmod 600/,
    ],
    [
      ['--webhook', 'https://example.org/x', '--webhook-key-file', `${key}.none`],
      1,
      /make the key of the webhook with/,
    ],
    [
      ['--webhook', 'https://example.org/x', '--webhook-key-file', inRoot],
      1,
      /roots\.project: this folder is, contains/,
    ],
  ] as const) {
    const ran = await hob.run('serve', ...manifest, ...args);
    expect([args, ran.code, ran.err]).toEqual([args, code, expect.stringMatching(why)]);
    expect(ran.err).not.toMatch(/^\s+at /m);
  }
}, 120_000);
