/**
 * `hob serve` killed with kill -9 between the hand-over of a message and the answer of its server: the message is
 * delivered once, the agent is told that nobody knows, and no later start sends it again.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { expect } from 'vitest';
import { requires } from '../../../../test/needs.ts';
import { hobHome, resolveHook } from '../../test/hob.ts';
import { web } from '../../test/web.ts';

const test = requires('linux');

/** Drafts and sends one message, tells how that ended, and waits. */
const AGENT = `
import '@hob/vat/lockdown';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { connect, E } from '@hob/vat';
const secret = readFileSync(process.env.HOB_SECRET_FILE, 'utf8').trim();
const { bootstrap: session } = await connect(process.env.HOB_URL, { secret });
const tell = E(session).cap('tell');
const draft = await E(tell).draft('The build is broken.', { subject: 'Build' });
console.log('first', await E(tell).send(draft).then(() => 'sent', (error) => error.code));
for await (const line of createInterface({ input: process.stdin })) if (line === 'end') break;
process.exit(0);
`;

test('a message that a kill -9 cuts between hand-over and answer is delivered once, and is never sent again by itself', async () => {
  const held: ServerResponse[] = [];
  const reached = Promise.withResolvers<void>();
  const server = await web((_request, response) => {
    held.push(response);
    reached.resolve();
  });
  const hob = hobHome(`version: 1
roots: { project: project }
channels: { ops: { webhook: { ops: OPS_HOOK }, addresses: [127.0.0.1] } }
session:
  ask: { tell: { message: "ops:ops" } }
`);
  const URL_OF_HOOK = `http://127.0.0.1:${server.port}/hooks/INTIMATE-0815`;
  const set = hob.start('secret', 'set', 'OPS_HOOK');
  set.child.stdin?.end(URL_OF_HOOK);
  expect(await set.ended).toBe(0);
  const host = await hob.serve();
  writeFileSync(join(hob.folder, 'agent.mjs'), AGENT);
  const agent = hob.start('start', '--', process.execPath, '--import', resolveHook, join(hob.folder, 'agent.mjs'));
  const [asked] = await hob.until(
    () => hob.json<readonly { readonly id: string }[]>('inbox'),
    ({ length }) => length === 1,
  );
  const card = (await hob.run('inbox', asked?.id as string)).out;
  expect(card).toMatch(/to +“ops”, by “webhook \(plain\)”/);
  expect(card).toMatch(/text +“The build is broken\.”/);
  expect(server.seen).toEqual([]);
  expect((await hob.run('grant', asked?.id as string)).code).toBe(0);
  await reached.promise;
  host.child.kill('SIGKILL');
  await host.ended;
  for (const response of held) response.end('ok');
  await agent.shows(/first (?:disconnected|unknown-outcome|restarted)/);

  // Two more starts, and each has time for what it might begin by itself.
  for (let start = 0; start < 2; start += 1) {
    const next = await hob.serve();
    expect(await hob.json('inbox')).toEqual([]);
    expect((await hob.run('ledger', 'verify')).code).toBe(0);
    next.child.kill('SIGTERM');
    await next.ended;
  }
  expect(server.seen).toEqual(['POST /hooks/INTIMATE-0815']);
  const last = await hob.serve();
  const shown = [(await hob.run('ledger', 'show')).out, (await hob.run('ledger', 'export')).out];
  expect(shown[1]).toContain('"method":"send"');
  // The line that says how it ended is not there, because nobody knows.
  expect(shown[1]).not.toMatch(/"k":"result"[^\n]*"method":"send"/);
  last.child.kill('SIGTERM');
  await last.ended;
  agent.child.stdin?.end('end\n');
  await agent.ended;
  const files = readdirSync(hob.folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const disk = files.map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'));
  for (const text of [...disk, ...shown, card, agent.out, agent.err, host.out, host.err, last.err])
    expect(text).not.toContain('INTIMATE');
}, 240_000);
