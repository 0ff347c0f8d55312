/** The verbs of a session, over a real connection to a real host. */
import { existsSync } from 'node:fs';
import * as tools from '@hob/tools';
import { E } from '@hob/vat';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { requires } from '../../../../test/needs.ts';
import { world } from '../../test/world.ts';
import type { Answer, Face } from '../index.ts';

const programs = requires('linux', 'cc', 'userns');
/** The answer itself, however often it takes longer than the face waits. */
async function settled(face: Face, name: string, args: object): Promise<Answer> {
  let answer = await face.call(name, args);
  while (typeof answer.data['waiting'] === 'string')
    answer = await face.call('wait_for', { request: answer.data['waiting'] });
  return answer;
}
const dataOf = async (face: Face, name: string, args: object): Promise<Answer['data']> =>
  (await face.call(name, args)).data;

test('a file is written, changed, found and listed under the petname of its directory', async () => {
  const at = await world();
  await at.grant('notes', 'notes');
  const face = await at.face();
  const call = async (name: string, args: object) => (await face.call(name, args)).text;
  expect(await call('write', { cap: 'notes', path: 'a/b.txt', text: 'one\ntwo\n', parents: true })).toMatch(/^written/);
  expect(await call('edit', { cap: 'notes', path: 'a/b.txt', old: 'two', new: 'three' })).toContain('+three');
  expect(await call('read', { cap: 'notes', path: 'a/b.txt', line: 2 })).toBe('three\n');
  expect(await call('search', { cap: 'notes', pattern: 'th.ee' })).toBe('a/b.txt:2: three');
  expect(await call('list', { cap: 'notes', path: 'a' })).toBe('file 10 b.txt');
  expect(await call('call', { cap: 'notes', method: 'glob', args: ['**/*.txt'] })).toBe('["a/b.txt"]');
});

test('a petname that the session does not hold leads nowhere, and the answer says how to ask', async () => {
  const at = await world();
  const face = await at.face();
  // `notes` is an offer of the host, and no cap of this session.
  for (const cap of ['other', 'notes', '__proto__', ''])
    expect(await dataOf(face, 'read', { cap, path: 'a.txt' }), cap).toMatchObject({ code: 'no-such-object', ask: cap });
  expect((await face.call('read', { cap: 'other', path: 'a' })).text).toContain('request_cap {"cap":"other"');
});

test('a call that does not fit its schema is not sent, and spends no use', async () => {
  const at = await world();
  await at.grant('notes', 'notes', { uses: 3 });
  const face = await at.face();
  const wrong: readonly [string, unknown][] = [
    ['read', undefined], ['read', []], ['read', 'notes'], ['read', { cap: 'notes' }], ['read', { cap: 'notes', path: 5 }],
    ['read', { cap: 'notes', path: 'a', line: '1' }], ['read', { cap: 'notes', path: 'a', line: 0 }], ['read', { cap: 'notes', path: 'a', more: 1 }],
    ['read', { cap: 'notes', path: '\ud800' }], ['write', { cap: 'notes', path: 'a', text: null }], ['nothing', { cap: 'notes' }], ['__proto__', {}],
    ['search', { cap: 'notes' }], ['search', { cap: 'notes', text: 'a', pattern: 'b' }], ['run', { cap: 'notes' }],
    ['job', { cap: 'notes', job: 'a', do: 'kill' }], ['run', { cap: 'notes', argv: ['a', 1] }], ['run', { cap: 'notes', argv: ['a'], background: true }],
  ]; // biome-ignore format: pairs
  for (const [name, args] of wrong)
    expect(await face.call(name, args), JSON.stringify([name, args])).toMatchObject({ isError: true, data: { code: 'invalid' } }); // biome-ignore format: one line
  for (let n = 0; n < 3; n += 1) expect((await face.call('list', { cap: 'notes' })).isError).toBe(undefined);
  expect(await dataOf(face, 'list', { cap: 'notes' })).toMatchObject({ code: 'exhausted', ask: 'notes' });
});

test('caps tells what is held, what is left, and what waits for a person', async () => {
  const at = await world();
  await at.grant('docs', 'notes', { uses: 4, methods: ['readText', 'entries'] });
  await at.grant('safe', 'notes', { gated: ['write', 'remove'] });
  const face = await at.face();
  const { text, data } = await face.call('caps', {});
  expect(data['caps']).toMatchObject([
    { cap: 'docs', state: 'live', verbs: ['read', 'list'], uses: 4 },
    { cap: 'safe', verbs: ['read', 'write', 'edit', 'list', 'search'], waits: ['write', 'remove'] },
  ]);
  expect(text).toMatch(/^docs: read list; 4 uses left; \d+ s left\nsafe: .*; waits for a person: write remove$/);
});

test('no page of a long answer is lost, and none splits a character', async () => {
  const at = await world();
  await at.grant('notes', 'notes');
  const face = await at.face();
  const whole = async (first: Answer): Promise<string> => {
    let text = first.text;
    for (let { next } = first.data; typeof next === 'string'; ) {
      const page = await face.call('wait_for', { request: next });
      expect(page.text.length).toBeLessThanOrEqual(10_000);
      expect([page.text.isWellFormed(), page.data['text']]).toEqual([true, page.text]);
      text += page.text;
      next = page.data['next'];
    }
    return text;
  };
  const odd = `x${'😀'.repeat(9000)}`;
  at.write('odd.txt', odd);
  const first = await face.call('read', { cap: 'notes', path: 'odd.txt' });
  expect([first.text.isWellFormed(), await whole(first)]).toEqual([true, odd]);
  const pieces = fc.array(fc.constantFrom('a', '😀', 'line\n', 'ü'.repeat(999), 'x'.repeat(4321)), { maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(pieces, async (parts) => {
      const text = parts.join('');
      at.write('long.txt', text);
      expect(await whole(await face.call('read', { cap: 'notes', path: 'long.txt' }))).toBe(text);
    }),
    { numRuns: 25 },
  );
  for (const request of ['P1.999', 'P99999.1', 'P1.0', 'P1', 'W1', 'R1', 'nothing'])
    expect(await dataOf(face, 'wait_for', { request }), request).toMatchObject({ code: 'invalid' });
});

test('a picture is a picture, and other bytes come as base64 from an offset on', async () => {
  const at = await world();
  await at.grant('notes', 'notes');
  const face = await at.face();
  const png = Buffer.from('89504e470d0a1a0affff', 'hex');
  at.write('a.png', png);
  const bytes = Buffer.from(Array.from({ length: 9000 }, (_, n) => (n * 7) % 256));
  at.write('a.bin', bytes);
  expect((await face.call('read', { cap: 'notes', path: 'a.png' })).image).toEqual({ mimeType: 'image/png', data: png.toString('base64') }); // biome-ignore format: one line
  const first = await dataOf(face, 'read', { cap: 'notes', path: 'a.bin' });
  const second = await dataOf(face, 'read', { cap: 'notes', path: 'a.bin', offset: first['next'] as number });
  expect(second['next']).toBe(undefined);
  const both = [first, second].map((each) => Buffer.from(each['base64'] as string, 'base64'));
  expect(Buffer.concat(both).equals(bytes)).toBe(true);
});

test('a call that waits for a person returns in time with an id, and goes on', async () => {
  const at = await world();
  await at.grant('safe', 'notes', { gated: ['write'] });
  const face = await at.face({ waitMs: 20 });
  const first = await face.call('write', { cap: 'safe', path: 'a.txt', text: 'one' });
  expect(first).toMatchObject({ data: { waiting: 'W1' } });
  expect(first.text).toContain('wait_for {"request":"W1"}');
  expect(await dataOf(face, 'wait_for', { request: 'W1' })).toMatchObject({ waiting: 'W1' });
  const [asked] = await at.inbox();
  await E(at.granter).answer(asked!.id, { grant: {}, digest: asked!.digest });
  const done = await settled(face, 'wait_for', { request: 'W1' });
  expect(done.text).toMatch(/^written/);
  expect(at.file('a.txt')).toBe('one');
});

test('a request has its id at once, a person answers it elsewhere, and wait_for tells the petname', async () => {
  const at = await world();
  let announced = 0;
  const face = await at.face({ onGrant: () => (announced += 1), waitMs: 20 });
  const asked = await settled(face, 'request_cap', { cap: 'notes', why: 'to see', uses: 2, seconds: 60 });
  const [request] = await at.inbox();
  expect(asked.data).toEqual({ request: 'R1', answer_with: 'hob grant R1' });
  expect(request).toMatchObject({ terms: { uses: 2, for: 60_000 }, asks: 'notes' });
  expect(await dataOf(face, 'wait_for', { request: 'R1' })).toMatchObject({ waiting: 'R1' });
  expect(announced).toBe(0);
  await E(at.granter).answer(request!.id, { grant: {}, as: 'mine', digest: request!.digest });
  expect([(await settled(face, 'wait_for', { request: 'R1' })).data, announced]).toEqual([{ cap: 'mine' }, 1]);
  expect((await settled(face, 'write', { cap: 'mine', path: 'a', text: 'b' })).isError).toBe(undefined);
  const again = await settled(face, 'request_cap', { cap: 'notes', why: 'more' });
  const [second] = await at.inbox();
  await E(at.granter).answer(second!.id, { refuse: 'enough' });
  expect((await settled(face, 'wait_for', { request: again.data['request'] })).data).toMatchObject({ code: 'denied' });
});

programs('a cancelled run kills its program and is in the ledger; a cancel after the answer does nothing', async () => {
  const at = await world({ shell: true });
  await at.grant('sh', 'shell', { uses: 3 });
  const face = await at.face();
  const cancel = new AbortController();
  const running = face.call('run', { cap: 'sh', command: 'echo > begun; sleep 1000' }, { signal: cancel.signal });
  for (;;) {
    try {
      at.file('begun');
      break;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
  cancel.abort();
  expect((await running).data['code']).toBe('revoked');
  for (;;) if ((await at.lines('result')).some(({ code }) => code === 'revoked')) break;
  expect(await at.lines('cancel')).toMatchObject([{ session: at.session.id }]);
  const late = new AbortController();
  const done = await face.call('run', { cap: 'sh', command: 'echo hi; exit 3' }, { signal: late.signal });
  late.abort();
  expect([done.text, done.data]).toEqual(['hi\n[exit 3]', { status: 3, stdout: 'hi\n', stderr: '', ended: 'exit' }]);
  await face.close();
  expect(await at.lines('cancel')).toHaveLength(1);
});

programs(
  'the end of a face ends what it waits for; a job in the background goes on, is found again, and stops',
  async () => {
    const at = await world({ shell: true });
    await at.grant('sh', 'shell');
    const face = await at.face({ waitMs: 20 });
    const command = 'echo ready; read x; sleep 1000';
    const { job } = (await settled(face, 'run', { cap: 'sh', command, background: true })).data;
    expect((await dataOf(face, 'run', { cap: 'sh', command: 'sleep 1000' }))['waiting']).toMatch(/^W\d$/);
    let out = '';
    while (!out.includes('ready')) out += (await settled(face, 'job', { cap: 'sh', job, do: 'output' })).data['stdout'];
    await face.close();
    expect(await at.lines('cancel')).toHaveLength(1);
    const other = await at.face();
    const running = other.call('run', { cap: 'sh', command: 'echo > begun; sleep 1000' });
    while (!existsSync(at.path('begun'))) await new Promise((resolve) => setTimeout(resolve, 10));
    await other.close();
    expect((await running).data['code']).toBe('revoked');
    expect(await dataOf(other, 'job', { cap: 'sh', job, do: 'stop' })).toMatchObject({ status: 137, ended: 'signal', stdout: 'ready\n' }); // biome-ignore format: one line
    expect(await dataOf(other, 'job', { cap: 'sh', job: 'j-unknown' })).toMatchObject({ code: 'no-such-object' });
  },
);

test('the names of the verbs are far apart for a host that repairs names, or their arguments are', async () => {
  const at = await world();
  const face = await at.face();
  const names = [...face.definitions.map(({ name }) => name), 'code'];
  for (const left of [
    ['caps', 'edit'],
    ['call', 'list'],
  ]) {
    const far = names.filter((name) => !left.includes(name));
    const verbs = far.map((name) => tools.verb({ name, description: name, parameters: {} }));
    await tools.of({ caps: async () => ['a'], cap: () => ({}) }, { a: verbs }, { otherwise: verbs });
  }
  // Each of these is near another one. A call that was meant for the one does not fit the other.
  const file = { cap: 'notes', path: 'a' };
  for (const [meant, args] of [['caps', { cap: 'notes', method: 'list' }], ['call', {}], ['list', { ...file, old: 'a', new: 'b' }], ['edit', file]] as const)
    expect(await dataOf(face, meant, args), meant).toMatchObject({ code: 'invalid' }); // biome-ignore format: pairs
});

test('the definitions take at most 2,500 tokens, at four bytes a token', async () => {
  const at = await world();
  const face = await at.face();
  expect(Buffer.byteLength(JSON.stringify({ tools: face.definitions })) / 4).toBeLessThan(2500);
});
