/** The verbs of a session, over a real connection to a real host. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openFsCap } from '@hob/caps-fs';
import { openHost, type SessionFace } from '@hob/host';
import { connect, E } from '@hob/vat';
import { expect, onTestFinished, test } from 'vitest';
import { type Face, openFace } from '../index.ts';

async function open(): Promise<Face> {
  const folder = mkdtempSync(join(tmpdir(), 'hob-mcp-'));
  const host = await openHost({ stateDir: join(folder, 'state') });
  const notes = await openFsCap(mkdtempSync(join(folder, 'notes-')));
  await host.offer('notes', notes);
  const { granter } = await host.ensureGranter('alice');
  const session = await host.openSession({ name: 'demo', granters: ['alice'] });
  await E(granter).grant(session.id, 'notes', 'notes', { uses: 10, for: 60_000 });
  const { url } = await host.serve();
  const connection = await connect<SessionFace>(url, { secret: session.secret });
  onTestFinished(async () => {
    connection.close();
    await connection.closed;
    await host.close();
    await notes.close();
    rmSync(folder, { recursive: true });
  });
  return await openFace(connection.bootstrap);
}

test('a file is written, changed, found and listed under the petname of its directory', async () => {
  const face = await open();
  const call = async (name: string, args: object) => (await face.call(name, args)).text;
  expect(await call('write', { cap: 'notes', path: 'a/b.txt', text: 'one\ntwo\n', parents: true })).toMatch(/^written/);
  expect(await call('edit', { cap: 'notes', path: 'a/b.txt', old: 'two', new: 'three' })).toContain('+three');
  expect(await call('read', { cap: 'notes', path: 'a/b.txt', line: 2 })).toBe('three\n');
  expect(await call('search', { cap: 'notes', pattern: 'th.ee' })).toBe('a/b.txt:2: three');
  expect(await call('list', { cap: 'notes', path: 'a' })).toBe('file 10 b.txt');
});

test('a petname that the session does not hold leads nowhere, and the answer says how to ask', async () => {
  const face = await open();
  const answer = await face.call('read', { cap: 'other', path: 'a.txt' });
  expect(answer).toMatchObject({ isError: true, data: { code: 'no-such-object', ask: 'other' } });
  expect(answer.text).toContain('request_cap {"cap":"other"');
});

test('a call that does not fit its schema is not sent, and spends no use', async () => {
  const face = await open();
  const wrong: readonly [string, unknown][] = [
    ['read', undefined], ['read', []], ['read', 'notes'], ['read', { cap: 'notes' }], ['read', { cap: 'notes', path: 5 }],
    ['read', { cap: 'notes', path: 'a', line: '1' }], ['read', { cap: 'notes', path: 'a', line: 0 }], ['read', { cap: 'notes', path: 'a', more: 1 }],
    ['read', { cap: 'notes', path: '\ud800' }], ['write', { cap: 'notes', path: 'a', text: null }], ['nothing', { cap: 'notes' }], ['__proto__', {}],
  ]; // biome-ignore format: pairs
  for (const [name, args] of wrong)
    expect(await face.call(name, args), JSON.stringify([name, args])).toMatchObject({ isError: true, data: { code: 'invalid' } }); // biome-ignore format: one line
  for (let n = 0; n < 10; n += 1) expect((await face.call('list', { cap: 'notes' })).isError).toBe(undefined);
  expect((await face.call('list', { cap: 'notes' })).data).toMatchObject({ code: 'exhausted', ask: 'notes' });
});
