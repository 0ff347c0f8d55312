/** Tools of a session, over a real connection to a real host. The model is the attacker: it sends what it likes. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openFsCap } from '@hob/caps-fs';
import { type CallFirewall, type Granter, type NewSession, openHost, type Request, type SessionFace } from '@hob/host';
import { CapError, connect, type Definition, define, E, type Far, openVats } from '@hob/vat';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import * as tools from './index.ts';

interface Scene {
  readonly granter: Far<Granter>;
  readonly session: NewSession;
  readonly face: Far<SessionFace>;
  readonly root: string;
  readonly rung: unknown[];
  grant(petname: string, offer: string, terms?: object): Promise<string>;
  request(): Promise<Request>;
  cut(): void;
}

const INVOKE = tools.verb({
  name: 'invoke',
  description: 'Rings.',
  parameters: { times: tools.count, tone: { type: 'string', enum: ['high', 'low'] } },
  optional: ['tone'],
  method: 'ring',
});

async function scene(): Promise<Scene> {
  const folder = mkdtempSync(join(tmpdir(), 'hob-tools-'));
  const root = join(folder, 'root');
  for (const name of ['root', 'state']) mkdirSync(join(folder, name));
  writeFileSync(join(root, 'notes.txt'), 'one\n');
  const host = await openHost({ stateDir: join(folder, 'state') });
  const directory = await openFsCap(root);
  const rung: unknown[] = [];
  await host.offer('notes', directory);
  await host.offer('bell', {
    ring: async (...args: unknown[]) => void rung.push(args),
    fail: async () => {
      throw new Error('/secret/path: no such file');
    },
  });
  const { granter } = await host.addGranter('owner');
  const session = await host.openSession({ name: 'work', granters: ['owner'] });
  const { url } = await host.serve();
  const connection = await connect<SessionFace>(url, { secret: session.secret });
  onTestFinished(async () => {
    connection.close();
    await connection.closed;
    await host.close();
    await directory.close();
    rmSync(folder, { recursive: true });
  });
  return {
    granter,
    session,
    face: connection.bootstrap,
    root,
    rung,
    async grant(petname, offer, terms = {}) {
      return ((await E(granter).grant(session.id, petname, offer, terms)) as { readonly id: string }).id;
    },
    async request() {
      for (;;) {
        const [found] = (await E(granter).inbox()) as readonly Request[];
        if (found !== undefined) return found;
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
    cut: () => connection.close(),
  };
}

test('every shape offers the same tools, with the petnames of the caps that have the verb', async () => {
  const at = await scene();
  await at.grant('work', 'notes');
  await at.grant('bell', 'bell');
  const made = await tools.of(at.face, { bell: [INVOKE] });
  const names = ['invoke', 'read', 'entries', 'search', 'write', 'edit', 'mkdir', 'request'];
  expect(made.names).toEqual(names);
  const schemas = Object.fromEntries(made.openai().map((tool) => [tool.function.name, tool.function.parameters]));
  expect(Object.fromEntries(made.anthropic().map((tool) => [tool.name, tool.input_schema]))).toEqual(schemas);
  expect(Object.fromEntries(made.responses().map((tool) => [tool.name, tool.parameters]))).toEqual(schemas);
  expect(schemas['read']?.properties['cap']?.enum).toEqual(['work']);
  expect(schemas['invoke']?.properties['cap']?.enum).toEqual(['bell']);
  expect(schemas['read']?.required).toEqual(['cap', 'path']);
  const kept = { jsonSchema: (schema: object) => schema };
  expect(Object.keys(made.aiSdk(kept))).toEqual(names);
  const named = { tool: ({ name }: { readonly name: string }) => name };
  expect(made.openaiAgents(named)).toEqual(names);
  expect(made.langgraph({ tool: (_run, { name }) => name })).toEqual(names);
  expect((await tools.of(at.session)).names).not.toContain('request');
});

test('paths that models write are taken, or the reply says what to write', async () => {
  const at = await scene();
  await at.grant('work', 'notes');
  const made = await tools.of(at.face);
  const plain = await made.call('entries', { cap: 'work' });
  for (const path of ['', '.', null]) expect(await made.call('entries', { cap: 'work', path })).toEqual(plain);
  expect(await made.call('search', { cap: 'work', text: 'one', path: '' })).toMatchObject({ isError: false });
  const write = { cap: 'work', path: 'deep/er/c.txt', text: 'c' };
  const refused = await made.call('write', write);
  expect(refused).toMatchObject({ code: 'NOT_FOUND', text: expect.stringContaining('mkdir {"cap": "work", "path": "deep/er"}') }); // biome-ignore format: one line
  expect(await made.call('mkdir', { cap: 'work', path: 'deep/er' })).toMatchObject({ isError: false });
  expect(await made.call('write', write)).toMatchObject({ isError: false });
  expect(readFileSync(join(at.root, 'deep/er/c.txt'), 'utf8')).toBe('c');
  for (const [absolute, relative] of [['/workspace/notes.txt', 'notes.txt'], ['/workspace', '.']] as const) // biome-ignore format: one line
    expect(await made.call('read', { cap: 'work', path: absolute })).toMatchObject({ code: 'PATH_ABSOLUTE', text: expect.stringContaining(`write "path": "${relative}" for`) }); // biome-ignore format: one line
  // No advice names a tool that is not offered.
  const few = await tools.of(at.face, {}, { otherwise: [tools.READ, tools.WRITE] });
  expect((await few.call('write', { ...write, path: 'none/x' })).text).not.toContain('mkdir');
  for (const path of ['/workspace/../../etc/passwd', '/..', '../x'])
    expect((await made.call('read', { cap: 'work', path })).text).not.toContain('write "path"');
});

test('calls reach the cap, results are text, and the message that goes back names the call', async () => {
  const at = await scene();
  await at.grant('work', 'notes');
  const made = await tools.of(at.face);
  const read = { name: 'read', arguments: '{"cap":"work","path":"notes.txt","line":null}' };
  expect(await made.openaiResult({ id: '1', function: read })).toEqual({ role: 'tool', tool_call_id: '1', content: 'one\n' }); // biome-ignore format: one line
  expect(await made.responsesResult({ call_id: '2', ...read })).toEqual({ type: 'function_call_output', call_id: '2', output: 'one\n' }); // biome-ignore format: one line
  const write = { id: '3', name: 'write', input: { cap: 'work', path: 'x.txt', text: 'one two' } };
  expect(await made.anthropicResult(write)).toMatchObject({ type: 'tool_result', tool_use_id: '3', content: expect.stringContaining('version') }); // biome-ignore format: one line
  expect(await made.call('edit', { cap: 'work', path: 'x.txt', old: 'one', new: '1' })).toMatchObject({ isError: false }); // biome-ignore format: one line
  expect(readFileSync(join(at.root, 'x.txt'), 'utf8')).toBe('1 two');
  expect(await made.call('search', { cap: 'work', text: 'two' })).toMatchObject({ text: expect.stringContaining('x.txt') }); // biome-ignore format: one line
  expect((await made.call('entries', { cap: 'work' })).text.split('\n').sort()).toEqual(['notes.txt', 'x.txt']);
  // The session of a host in the same process will do, too.
  expect(await (await tools.of(at.session)).call('read', read.arguments)).toEqual({ text: 'one\n', isError: false });
});

test('a model that calls what it does not hold is told what it holds and how to ask, and nothing happens', async () => {
  const at = await scene();
  await at.grant('work', 'notes');
  await at.grant('bell', 'bell');
  const made = await tools.of(at.face, { bell: [INVOKE] });
  const told = async (name: unknown, args: unknown): Promise<string> => {
    const { text, isError } = await made.call(name, args);
    expect(isError).toBe(true);
    return text;
  };
  expect(await told('read', { cap: 'secrets', path: 'a' })).toBe(
    'refused (no-such-object): you hold no "secrets". You hold: bell, work. Ask for it: request {"cap": "secrets", "why": "…"}',
  );
  expect(await told('delete', {})).toMatch(/^refused \(invalid\): there is no such tool: there are invoke, read/);
  for (const name of ['Read', 'read ', 'readText', '__proto__', 'constructor', 'toString', undefined, 7, {}])
    expect(await told(name, { cap: 'work', path: 'notes.txt' })).toContain('no such tool');
  expect(await told('invoke', { cap: 'work', times: 1 })).toBe(
    'refused (invalid): "work" cannot do that: invoke is for bell',
  );
  expect(await told('read', { path: 'a' })).toContain('say in "cap" which of your caps: work');
  for (const cap of ['Work', 'work ', '__proto__', 'wοrk'])
    expect(await told('read', { cap, path: 'notes.txt' })).toContain('you hold no ');
  expect(at.rung).toEqual([]);
  const silent = await tools.of(at.face, {}, { canRequest: false });
  expect((await silent.call('read', { cap: 'x', path: 'a' })).text).toContain(
    'Ask the person you work for to grant "x"',
  );
});

test('arguments are checked before anything is sent, and nothing is converted', async () => {
  const at = await scene();
  await at.grant('bell', 'bell');
  const made = await tools.of(at.face, { bell: [INVOKE] });
  const wrong: readonly (readonly [unknown, string])[] = [
    [{ cap: 'bell' }, 'an argument is missing: times'],
    [{ cap: 'bell', times: '2' }, '"times" is not of the type integer'],
    [{ cap: 'bell', times: 0 }, '"times" is 1 or more'],
    [{ cap: 'bell', times: 1.5 }, '"times" is not of the type integer'],
    [{ cap: 'bell', times: 1, tone: 'loud' }, '"tone" is one of high, low'],
    [{ cap: 'bell', times: 1, toString: 'x' }, 'there is no argument "toString": there are cap, times, tone'],
    ['{"cap":"bell","times":1,"__proto__":{}}', 'there is no argument "__proto__"'],
    ['{', 'the arguments are not JSON'],
    ['[]', 'the arguments are a record'],
    [undefined, 'the arguments are a record'],
  ];
  for (const [args, says] of wrong)
    expect(await made.call('invoke', args)).toMatchObject({ isError: true, text: expect.stringContaining(says) });
  expect(at.rung).toEqual([]);
  expect(await made.call('invoke', { cap: 'bell', times: 2, tone: null })).toEqual({ text: 'done', isError: false });
  expect(await made.call('invoke', { cap: 'bell', times: 1, tone: 'low' })).toEqual({ text: 'done', isError: false });
  expect(at.rung).toEqual([[2], [1, 'low']]);
});

test('a revoked cap is refused in words, also for a call that waits, and one granted later is found', async () => {
  const at = await scene();
  const made = await tools.of(at.face);
  expect(made.names).toEqual(['request']);
  const id = await at.grant('work', 'notes');
  expect(await made.call('read', { cap: 'work', path: 'notes.txt' })).toEqual({ text: 'one\n', isError: false });
  await E(at.granter).revoke({ grant: id });
  expect(await made.call('read', { cap: 'work', path: 'notes.txt' })).toMatchObject({
    code: 'revoked',
    text: expect.stringMatching(/^refused \(revoked\): .*Ask for it: request \{"cap": "work"/),
  });
  const gated = await at.grant('slow', 'notes', { gated: true });
  const waits = made.call('read', { cap: 'slow', path: 'notes.txt' });
  await at.request();
  await E(at.granter).revoke({ grant: gated });
  expect(await waits).toMatchObject({ isError: true, code: 'revoked' });
});

test('a call of a gated cap and a request wait for a person, and a no is a text', async () => {
  const at = await scene();
  await at.grant('work', 'notes', { gated: ['write'] });
  const made = await tools.of(at.face);
  const written = made.call('write', { cap: 'work', path: 'x', text: 'y' });
  const call = await at.request();
  await E(at.granter).answer(call.id, { grant: {}, digest: call.digest });
  expect(await written).toMatchObject({ isError: false });
  const refused = made.call('write', { cap: 'work', path: 'z', text: 'y' });
  const second = await at.request();
  await E(at.granter).answer(second.id, { refuse: 'not that one', digest: second.digest });
  expect(await refused).toMatchObject({ code: 'denied', text: expect.stringContaining('not that one') });
  const more = made.call('request', { cap: 'bell', why: 'to ring', uses: 2, seconds: 60 });
  const ask = await at.request();
  expect(ask).toMatchObject({ kind: 'grant', asks: 'bell', terms: { uses: 2, for: 60_000 } });
  await E(at.granter).answer(ask.id, { grant: { uses: 1 }, digest: ask.digest });
  expect(await more).toEqual({ text: 'granted. You hold: bell, work', isError: false });
});

test('a wait that is given up, and a connection that is lost, are told as unknown, never as done', async () => {
  const at = await scene();
  await at.grant('work', 'notes', { gated: true });
  const made = await tools.of(at.face);
  const stop = new AbortController();
  const waits = made.call('write', { cap: 'work', path: 'x', text: 'y' }, { signal: stop.signal });
  await at.request();
  stop.abort();
  expect(await waits).toMatchObject({ code: 'unknown-outcome', text: expect.stringMatching(/^unknown/) });
  const lost = made.call('read', { cap: 'work', path: 'notes.txt' });
  at.cut();
  expect(await lost).toMatchObject({ code: 'disconnected', text: expect.stringMatching(/^unknown/) });
});

test('nothing is sent after a wait was given up, also if that happens while the caps are read', async () => {
  const at = await scene();
  const made = await tools.of(at.face, { bell: [INVOKE] });
  await at.grant('bell', 'bell');
  const ring = (signal: AbortSignal): Promise<tools.Result> =>
    made.call('invoke', { cap: 'bell', times: 1 }, { signal });
  const nothing = { isError: true, code: 'unavailable', text: expect.stringMatching(/nothing happened$/) };
  const stop = new AbortController();
  // It holds the cap since the list was read, so it is read again.
  const first = ring(stop.signal);
  stop.abort();
  expect(await first).toMatchObject(nothing);
  expect(await ring(stop.signal)).toMatchObject(nothing);
  expect(await made.call('request', { cap: 'notes', why: 'x' }, { signal: stop.signal })).toMatchObject(nothing);
  expect(await E(at.granter).inbox()).toEqual([]);
  expect(at.rung).toEqual([]);
  expect(await ring(new AbortController().signal)).toEqual({ text: 'done', isError: false });
  expect(at.rung).toEqual([[1]]);
});

test('whatever a cap returns or throws, the loop gets a text of limited length that every API takes', async () => {
  const face = 'x'.repeat(49_999).concat('😀 and more');
  const [half] = '😀';
  const hostile = {
    caps: () => ['evil'],
    cap: () => ({}),
  };
  const evil = (send: () => unknown): Promise<tools.Result> => {
    const verb = tools.verb({ name: 'invoke', description: 'x', send: async () => send() });
    return tools.of(hostile, { evil: [verb] }).then((made) => made.call('invoke', { cap: 'evil' }));
  };
  const fails = (error: unknown) => () => {
    throw error;
  };
  const deep = JSON.parse('['.repeat(20_000) + ']'.repeat(20_000));
  for (const send of [
    () => face,
    () => half,
    () => ({ [`${half}`]: half }),
    () => JSON.parse('{"__proto__":{"toJSON":1},"constructor":{"prototype":{"x":1}},"then":2}'),
    () => deep,
    fails(new CapError('invalid', face.repeat(100))),
    fails(new CapError('x'.repeat(100_000) as 'invalid', `${half}`)),
    fails(half),
    fails(undefined),
  ]) {
    const { text } = await evil(send);
    expect(text.isWellFormed()).toBe(true);
    expect(text.length).toBeLessThan(50_100);
  }
  expect((await evil(fails(new CapError('invalid', face)))).text.length).toBeLessThan(2200);
  expect(({} as { toJSON?: unknown; x?: unknown }).x).toBeUndefined();
});

test('an argument that was left out is not taken from Object.prototype', async () => {
  const at = await scene();
  await at.grant('bell', 'bell');
  const odd: Record<string, tools.Schema> = { times: tools.count, constructor: {}, toString: {} };
  const ring = tools.verb({
    name: 'invoke',
    description: 'x',
    parameters: odd,
    optional: ['constructor', 'toString'],
    method: 'ring',
  });
  const made = await tools.of(at.face, { bell: [ring] });
  expect(await made.call('invoke', { cap: 'bell', times: 1 })).toEqual({ text: 'done', isError: false });
  expect(await made.call('invoke', '{"cap":"bell","times":2,"toString":3}')).toEqual({ text: 'done', isError: false });
  expect(at.rung).toEqual([[1], [2, undefined, 3]]);
  for (const args of ['{"cap":"bell","times":1,"__proto__":{"tone":"low"}}', '{"cap":"__proto__"}', '{"__proto__":1}'])
    expect(await made.call('invoke', args)).toMatchObject({ isError: true });
  expect(at.rung).toHaveLength(2);
});

test('whatever a model sends as name and arguments, the loop gets a text, and no error of the host names a path', async () => {
  const at = await scene();
  await at.grant('work', 'notes');
  await at.grant('bell', 'bell');
  const fail = tools.verb({ name: 'break_it', description: 'Fails.', method: 'fail' });
  const made = await tools.of(at.face, { bell: [fail] });
  const broken = await made.call('break_it', { cap: 'bell' });
  expect(broken.isError).toBe(true);
  expect(broken.text).not.toContain('secret');
  const name = fc.oneof(fc.constantFrom(...made.names), fc.string());
  const value = fc.oneof(fc.constantFrom('work', 'bell', 'notes.txt', '..'), fc.jsonValue());
  const args = fc.oneof(
    fc.dictionary(fc.constantFrom('cap', 'path', 'line', 'text', 'glob', '__proto__'), value),
    fc.json(),
    fc.anything(),
  );
  // A request would wait for a person.
  await fc.assert(
    fc.asyncProperty(
      name.filter((each) => each !== 'request'),
      args,
      async (called, given) => {
        const { text, isError } = await made.call(called, given);
        expect(typeof text).toBe('string');
        expect(typeof isError).toBe('boolean');
        expect(text).not.toContain(at.root);
      },
    ),
    { numRuns: 60 },
  );
});

test('names that a repair by likeness takes for one another are refused, as are two verbs of one name', async () => {
  const at = await scene();
  const named = (name: string): tools.Verb => tools.verb({ name, description: 'x' });
  const made = (...names: readonly string[]): Promise<unknown> => tools.of(at.face, { a: names.map(named) });
  for (const pair of [['list'], ['writes'], ['EDIT'], ['read_tool'], ['grant_read', 'grant_write']])
    await expect(made(...pair)).rejects.toMatchObject({ code: 'invalid' });
  await expect(made('request')).rejects.toMatchObject({ code: 'invalid' });
  await expect(made('invoke', 'invoke')).rejects.toMatchObject({ code: 'invalid' });
  await expect(made('invoke', 'publish')).resolves.toBeDefined();
  for (const name of ['', 'a-b', 'a b', 'x'.repeat(49)]) expect(() => named(name)).toThrow('is no name of a tool');
  expect(() => tools.verb({ name: 'x', description: '', parameters: { cap: {} } })).toThrow('"cap" is the argument');
});

test('long results are cut, bytes and big numbers are text, and a cap in a result is never asked anything', async () => {
  const at = await scene();
  expect(tools.shown('a'.repeat(50_001))).toBe(`${'a'.repeat(50_000)}\n… 1 letters more`);
  expect(tools.shown(undefined)).toBe('done');
  expect(tools.shown([])).toBe('nothing');
  expect(tools.shown(['a', 'b'])).toBe('a\nb');
  expect(tools.shown(new Uint8Array([1, 2]))).toBe('2 bytes, base64: AQI=');
  expect(tools.shown({ n: 10n, cap: at.face, bytes: new Uint8Array([1]) })).toBe(
    '{"n":"10","cap":"<cap>","bytes":"AQ=="}',
  );
});

test('a result cannot have a cap called: neither one that is a function, nor one that a record names toJSON', async () => {
  const vats = await openVats();
  onTestFinished(() => vats.close());
  let called = 0;
  const Ring: Definition<() => number, []> = define('Ring', () => () => {
    called += 1;
    return called;
  });
  const ring = (await vats.vat('attack').spawn(Ring())) as unknown as () => Promise<number>;
  expect(await ring()).toBe(1);
  expect(tools.shown(ring)).toBe('"<cap>"');
  expect(tools.shown({ toJSON: ring, deep: [{ toJSON: ring }] })).toBe(
    '{"toJSON":"<cap>","deep":[{"toJSON":"<cap>"}]}',
  );
  expect(await ring()).toBe(2);
});

test('a result without an end is a failure in words', async () => {
  const at = await scene();
  const circle: Record<string, unknown> = {};
  circle['self'] = circle;
  let deep: unknown = 1;
  for (let n = 0; n < 200_000; n += 1) deep = [deep];
  for (const value of [circle, deep]) {
    const made = await tools.of({ caps: () => ['a'], cap: () => at.face }, { a: [tools.verb({ name: 'ring', description: '', send: async () => value })] }); // biome-ignore format: one line
    expect(await made.call('ring', { cap: 'a' })).toMatchObject({ isError: true });
  }
});

test('a warning of the host is in the answer, as text and as data, over the wire and within the program', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'hob-warned-'));
  // Warns of each call; `@hob/firewall` has the rules.
  const firewall: CallFirewall = {
    decide: () => ({ waits: false, trace: {}, reasons: [] }),
    loops: { before: () => {}, after: ({ method }, { ok }) => ({ kept: 0, lasting: true, warning: `${method} again: ${ok}` }) }, // biome-ignore format: one line
  };
  const host = await openHost({ stateDir: folder, firewall });
  onTestFinished(async () => {
    await host.close();
    rmSync(folder, { recursive: true });
  });
  await host.offer('bell', {
    ring: async () => 'ding',
    fail: async () => { throw new CapError('NOT_FOUND', 'no bell'); }, // biome-ignore format: one line
  });
  const { granter } = await host.addGranter('owner');
  const session = await host.openSession({ name: 'work', granters: ['owner'] });
  await E(granter).grant(session.id, 'bell', 'bell', { for: 60_000 });
  const { url } = await host.serve();
  const connection = await connect<SessionFace>(url, { secret: session.secret });
  onTestFinished(async () => {
    connection.close();
    await connection.closed;
  });
  const kind = ['ring', 'fail'].map((name) => tools.verb({ name, description: name }));
  for (const entered of [session, connection.bootstrap]) {
    const made = await tools.of(entered, { bell: kind });
    expect(await made.call('ring', { cap: 'bell' })).toEqual({ text: 'ding\nring again: true', isError: false, warnings: ['ring again: true'] }); // biome-ignore format: one line
    expect(await made.call('fail', { cap: 'bell' })).toEqual({ text: 'failed (NOT_FOUND): no bell\nfail again: false', isError: true, code: 'NOT_FOUND', warnings: ['fail again: false'] }); // biome-ignore format: one line
    const sent = await made.openaiResult({ id: 'c', function: { name: 'ring', arguments: '{"cap":"bell"}' } });
    expect(sent.content).toBe('ding\nring again: true');
  }
});
