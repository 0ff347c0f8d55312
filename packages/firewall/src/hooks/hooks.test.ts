/** Hooks in a real host: they only make stricter, and fail closed. The hook, or its author's mistake, is the attacker. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openHost } from '@hob/host';
import { E } from '@hob/vat';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { type FirewallOptions, makeFirewall } from '../firewall.ts';
import { saidBy } from './answer.ts';
import type { Hook, HookEvent, HookRun } from './hook.ts';

interface Notes {
  read(name: string): Promise<string>;
  write(name: string, text: string): Promise<string>;
}

const exits = (stdout: string, status = 0): HookRun => ({ ended: 'exit', status, stdout });
const answering = (name: string, on: HookEvent, answer: unknown, more: Partial<Hook> = {}): Hook => ({
  name,
  on,
  run: async () => exits(typeof answer === 'string' ? answer : JSON.stringify(answer)),
  ...more,
});

async function world(options: Partial<FirewallOptions>) {
  const folder = mkdtempSync(join(tmpdir(), 'hob-hooks-'));
  const host = await openHost({ stateDir: folder, firewall: makeFirewall({ mode: 'observe', ...options }) });
  onTestFinished(async () => {
    await host.close();
    rmSync(folder, { recursive: true });
  });
  const written: string[] = [];
  const notes: Notes = {
    read: async (name) => `text of ${name}`,
    write: async (name, text) => {
      written.push(`${name}: ${text}`);
      return 'written';
    },
  };
  await host.offer('notes', notes, { effects: { read: { class: 'A' }, write: { class: 'B', undo: 'easy' } } });
  const { granter } = await host.addGranter('alice');
  const session = await host.openSession({ name: 'work', granters: ['alice'] });
  await E(granter).grant(session.id, 'notes', 'notes', { for: 600_000, uses: 20 });
  const asked = async () => {
    for (;;) {
      const [first] = await E(granter).inbox();
      if (first !== undefined) return first;
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const lines = async (kind: string): Promise<readonly Record<string, unknown>[]> => {
    const all: Record<string, unknown>[] = [];
    for await (const text of host.ledger()) all.push(JSON.parse(text) as Record<string, unknown>);
    return all.filter(({ k }) => k === kind);
  };
  const usesLeft = async (): Promise<unknown> => ((await E(granter).list()) as readonly { readonly usesLeft?: number }[])[0]?.usesLeft; // biome-ignore format: one line
  return { host, granter, session, written, asked, lines, usesLeft, notes: await session.cap<Notes>('notes') };
}

const refusal = (promise: Promise<unknown>): Promise<string> => promise.then(() => 'ok', (error) => `${error.code}: ${error.message}`); // biome-ignore format: one line

test('a hook sees the call as data, in the words of its event', async () => {
  const inputs: Record<string, unknown>[] = [];
  const noting = (name: string, on: HookEvent, answer: string): Hook => ({
    name,
    on,
    run: async (input) => {
      inputs.push(JSON.parse(input) as Record<string, unknown>);
      return exits(answer);
    },
  });
  const at = await world({
    hooks: [
      noting('ours', 'pre_call', '{"decision":"go"}'),
      noting('theirs', 'pre_tool_call', '{"action":"allow"}'),
      noting('claude', 'PreToolUse', ''),
      noting('after', 'post_call', '{"decision":"pass"}'),
    ],
  });
  expect(await E(at.notes).write('a', 'one')).toBe('written');
  const session_id = at.session.id;
  expect(inputs).toMatchObject([
    { hook_event_name: 'pre_call', session_id, cap: 'notes', offer: 'notes', method: 'write', args: ['a', 'one'], assessment: { tool_name: 'notes.write', pattern: 'confidence_threshold' } }, // biome-ignore format: one line
    { hook_event_name: 'pre_tool_call', tool_name: 'notes.write', tool_input: { args: ['a', 'one'] }, session_id, cwd: '/' }, // biome-ignore format: one line
    { hook_event_name: 'PreToolUse', tool_name: 'notes.write', tool_input: { args: ['a', 'one'] }, session_id, permission_mode: 'default' }, // biome-ignore format: one line
    { hook_event_name: 'post_call', method: 'write', outcome: { ok: true, value: 'written' } },
  ]);
  expect(await at.lines('assess')).toMatchObject([{ method: 'write', risk: 0.3, effect: 'B', hooks: 'ours: goes on, theirs: goes on, claude: goes on' }]); // biome-ignore format: one line
  expect(await at.lines('call')).toMatchObject([{ method: 'write', hooked: true }]);
});

test('a hook of each event blocks: nothing happens, no use is spent, and the caller reads its name and its reason', async () => {
  const blocking: readonly (readonly [HookEvent, object])[] = [
    ['pre_call', { decision: 'block', message: 'not on a Friday' }],
    ['pre_tool_call', { action: 'block', message: 'not on a Friday' }],
    ['PreToolUse', { hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'deny', permissionDecisionReason: 'not on a Friday' } }], // biome-ignore format: one line
  ];
  for (const [on, answer] of blocking) {
    const at = await world({ hooks: [answering('check', on, answer, { methods: ['write'] })] });
    expect(await refusal(E(at.notes).write('a', 'one'))).toBe('denied: the hook check blocks this call: not on a Friday'); // biome-ignore format: one line
    expect([at.written, await at.usesLeft()]).toEqual([[], 20]);
    expect(await E(at.notes).read('a')).toBe('text of a');
    expect(await at.lines('assess')).toMatchObject([{ blocked: true, hooks: 'check: blocks' }]);
  }
});

test('ask and defer wait for a person, who reads the context; the call goes on once after a yes, and not after a no', async () => {
  const output = (permissionDecision: string): object => ({ hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision, additionalContext: 'it is Friday' } }); // biome-ignore format: one line
  const asking: readonly (readonly [HookEvent, object])[] = [
    ['pre_call', { decision: 'ask', context: 'it is Friday' }],
    ['PreToolUse', output('ask')],
    ['PreToolUse', output('defer')],
  ];
  for (const [on, answer] of asking) {
    const at = await world({ hooks: [answering('check', on, answer)] });
    const writing = E(at.notes).write('a', 'one');
    const first = await at.asked();
    expect(first.table).toContainEqual(['why it waits', 'the hook check wants a person to decide']);
    expect(first.table).toContainEqual(['the hook check says', 'it is Friday']);
    expect(at.written).toEqual([]);
    await E(at.granter).answer(first.id, { grant: {}, digest: first.digest });
    expect([await writing, at.written]).toEqual(['written', ['a: one']]);
    const again = refusal(E(at.notes).write('a', 'two'));
    const second = await at.asked();
    await E(at.granter).answer(second.id, { refuse: 'no', digest: second.digest });
    expect([await again, at.written]).toEqual([expect.stringMatching(/^denied/), ['a: one']]);
  }
});

test('a raised score makes a call wait under enforce, and is only recorded while the firewall observes', async () => {
  const hooks = [answering('score', 'pre_call', { decision: 'go', risk: 0.7 })];
  const observing = await world({ hooks });
  expect(await E(observing.notes).write('a', 'one')).toBe('written');
  expect(await observing.lines('assess')).toMatchObject([{ risk: 0.7, human: true, hooks: 'score: raises' }]);
  const at = await world({ mode: 'enforce', hooks });
  const writing = refusal(E(at.notes).write('a', 'one'));
  const asked = await at.asked();
  expect(asked.table).toContainEqual(['why it waits', 'the hook score finds it risky']);
  await E(at.granter).answer(asked.id, { refuse: 'no', digest: asked.digest });
  expect([await writing, at.written]).toEqual([expect.stringMatching(/^denied/), []]);
});

test('a hook that allows ends no wait: what the firewall or the terms make wait, waits', async () => {
  const allow = [
    answering('ours', 'pre_call', { decision: 'go', risk: 0, confidence: 1 }),
    answering('theirs', 'PreToolUse', { hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'allow' } }), // biome-ignore format: one line
  ];
  const at = await world({ mode: 'enforce', sensitivity: { notes: 'high' }, hooks: allow });
  const writing = refusal(E(at.notes).write('a', 'one'));
  const asked = await at.asked();
  expect(asked.table).toContainEqual(['why it waits', 'much depends on what this cap leads to']);
  await E(at.granter).answer(asked.id, { refuse: 'no', digest: asked.digest });
  expect([await writing, at.written]).toEqual([expect.stringMatching(/^denied/), []]);
  const gated = await world({ hooks: allow });
  await E(gated.granter).grant(gated.session.id, 'safe', 'notes', { for: 60_000, gated: ['write'] });
  const waiting = refusal(E(await gated.session.cap<Notes>('safe')).write('a', 'one'));
  const second = await gated.asked();
  await E(gated.granter).answer(second.id, { refuse: 'no', digest: second.digest });
  expect([await waiting, gated.written]).toEqual([expect.stringMatching(/^denied/), []]);
});

test('a hook that cannot be run blocks, and one that fails after the call withholds the answer and says that it was made', async () => {
  const crashing: Hook = { name: 'gone', on: 'pre_call', run: () => Promise.reject(new Error('/secret/place')) };
  const before = await world({ hooks: [crashing] });
  expect(await refusal(E(before.notes).write('a', 'one'))).toBe('denied: the hook gone blocks this call: it failed: it could not be run'); // biome-ignore format: one line
  expect(before.written).toEqual([]);
  const after = await world({ hooks: [{ ...crashing, on: 'post_call' }] });
  expect(await refusal(E(after.notes).write('a', 'one'))).toBe('denied: the call was made, and the hook gone withholds its answer: it failed: it could not be run. Do not call again for that'); // biome-ignore format: one line
  expect(after.written).toEqual(['a: one']);
  expect(await after.lines('hook')).toMatchObject([{ withheld: true, hooks: 'gone: blocks' }]);
});

test('what comes out of a cap is looked at, too, and an object stands as one in what a hook sees', async () => {
  const seen: unknown[] = [];
  const folder = mkdtempSync(join(tmpdir(), 'hob-hooks-'));
  const run: Hook['run'] = async (input) => {
    seen.push((JSON.parse(input) as { readonly outcome: unknown }).outcome);
    return exits('{"decision":"pass"}');
  };
  await using host = await openHost({ stateDir: folder, firewall: makeFirewall({ mode: 'observe', hooks: [{ name: 'see', on: 'post_call', run }] }) }); // biome-ignore format: one line
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const inner = { read: async () => 'inner' };
  const { driver } = await import('@hob/vat');
  await host.offer('outer', { open: async () => driver(inner as never) });
  const { granter } = await host.addGranter('alice');
  const session = await host.openSession({ name: 'work', granters: ['alice'] });
  await E(granter).grant(session.id, 'outer', 'outer', { for: 60_000 });
  const opened = E(await session.cap<{ open(): Promise<typeof inner> }>('outer')).open();
  expect(await E(opened as never as Promise<typeof inner>).read()).toBe('inner');
  expect(seen).toEqual([
    { ok: true, value: { object: true } },
    { ok: true, value: 'inner' },
  ]);
});

test('a revoked grant stops its hook, and the call does not go on', async () => {
  const started = Promise.withResolvers<void>();
  const stopped = Promise.withResolvers<void>();
  const run: Hook['run'] = async (_input, signal) => {
    started.resolve();
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    stopped.resolve();
    return exits('{"decision":"go"}');
  };
  const at = await world({ hooks: [{ name: 'slow', on: 'pre_call', run }] });
  const writing = refusal(E(at.notes).write('a', 'one'));
  await started.promise;
  const [grant] = (await E(at.granter).list()) as readonly { readonly id: string }[];
  await E(at.granter).revoke({ grant: grant!.id } as never);
  await stopped.promise;
  expect([await writing, at.written]).toEqual([expect.stringMatching(/^revoked/), []]);
});

const specific = (fields: object): string => JSON.stringify({ hookSpecificOutput: { hookEventName: 'PreToolUse', ...fields } }); // biome-ignore format: one line
/** `on`, the run, and what it blocks with; an undefined text means that it does not block. */
const RUNS: readonly (readonly [HookEvent, Partial<HookRun>, RegExp | undefined])[] = [
  ['pre_call', { ended: 'timeout' }, /it took too long/],
  ['pre_call', { ended: 'signal', status: 139 }, /it crashed/],
  ['pre_call', { ended: 'limit' }, /too much/],
  ['pre_call', { ended: 'missing' }, /its file is not there/],
  ['pre_call', { ended: 'changed' }, /not the one that was accepted/],
  ['pre_call', { ended: 'odd' as never }, /it did not end/],
  ['pre_call', { status: 1, stdout: '{"decision":"go"}' }, /it ended with 1/],
  ['PreToolUse', { status: 2 }, /it ended with 2/],
  ['pre_call', { stdout: '' }, /said nothing/],
  ['pre_tool_call', { stdout: ' \n' }, /said nothing/],
  ['post_call', { stdout: '' }, /said nothing/],
  ['PreToolUse', { stdout: '' }, undefined],
  ['pre_call', { stdout: 'ok' }, /no JSON/],
  ['pre_call', { stdout: '{"decision":"go"' }, /no JSON/],
  ['pre_call', { stdout: '{"decision":"go"}{"decision":"go"}' }, /no JSON/],
  ['pre_call', { stdout: 'null' }, /no record/],
  ['pre_call', { stdout: '["go"]' }, /no record/],
  ['pre_call', { stdout: '{}' }, /decision is none of/],
  ['pre_call', { stdout: '{"decision":"allow"}' }, /decision is none of/],
  ['pre_call', { stdout: '{"decision":"toString"}' }, /decision is none of/],
  ['pre_call', { stdout: '{"decision":["go"]}' }, /decision is none of/],
  ['pre_call', { stdout: '{"decision":"go","descision":"block"}' }, /which nobody knows/],
  ['pre_call', { stdout: '{"decision":"go","risk":"0.9"}' }, /numbers from 0 to 1/],
  ['pre_call', { stdout: '{"decision":"go","risk":2}' }, /numbers from 0 to 1/],
  ['pre_call', { stdout: '{"decision":"go","message":1}' }, /are texts/],
  ['pre_call', { stdout: `{"decision":"go","context":"${'x'.repeat(70_000)}"}` }, /too much/],
  ['pre_call', { stdout: '{"decision":"go"}' }, undefined],
  ['pre_tool_call', { stdout: '{"action":"block","message":"no"}' }, /^no$/],
  ['pre_tool_call', { stdout: '{"action":"approve"}' }, /action is none of/],
  ['pre_tool_call', { stdout: '{"action":"allow"}' }, undefined],
  ['post_call', { stdout: '{"decision":"withhold"}' }, /no reason/],
  ['post_call', { stdout: '{"decision":"go"}' }, /decision is none of/],
  ['post_call', { stdout: '{"decision":"pass"}' }, undefined],
  ['PreToolUse', { stdout: specific({ permissionDecision: 'allow' }) }, undefined],
  ['PreToolUse', { stdout: specific({ permissionDecision: 'yes' }) }, /none of allow/],
  ['PreToolUse', { stdout: specific({ permissionDecision: 'allow', updatedInput: { args: ['b'] } }) }, /changed the input/],
  ['PreToolUse', { stdout: specific({ permissionDecision: 'allow', updatedInput: { args: ['a'] } }) }, undefined],
  ['PreToolUse', { stdout: specific({ permissionDecision: 'allow', hookEventName: 'PostToolUse' }) }, /hookEventName/],
  ['PreToolUse', { stdout: specific({ permissionDecision: 'allow', odd: 1 }) }, /nobody knows/],
  ['PreToolUse', { stdout: '{"decision":"approve"}' }, undefined],
  ['PreToolUse', { stdout: '{"decision":"block","reason":"no"}' }, /^no$/],
  ['PreToolUse', { stdout: '{"decision":"allow"}' }, /neither/],
  ['PreToolUse', { stdout: '{"continue":false,"stopReason":"stop"}' }, /^stop$/],
  ['PreToolUse', { stdout: '{"continue":"false"}' }, /true or false/],
  ['PreToolUse', { stdout: '{"hookSpecificOutput":"allow"}' }, /is a record/],
]; // biome-ignore format: a table

test('every failure of a hook blocks, with its reason; only the words that are known go on', () => {
  for (const [on, run, blocks] of RUNS) {
    const said = saidBy(on, { ended: 'exit', status: 0, stdout: '', ...run }, { args: ['a'] });
    if (blocks === undefined) expect([on, run, said.blocks]).toEqual([on, run, undefined]);
    else expect([on, run, said.blocks]).toEqual([on, run, expect.stringMatching(blocks)]);
  }
});

test('for any output: a hook goes on only with an answer of its own event, and never throws', () => {
  const words = fc.oneof(fc.json(), fc.string(), fc.record({ decision: fc.string(), action: fc.string() }).map((one) => JSON.stringify(one))); // biome-ignore format: one line
  fc.assert(
    fc.property(fc.constantFrom<HookEvent>('pre_call', 'post_call', 'pre_tool_call'), words, (on, stdout) => {
      const { blocks } = saidBy(on, exits(stdout), {});
      if (blocks === undefined) expect(stdout).toMatch(/"(?:decision|action)"\s*:\s*"(?:go|ask|pass|allow)"/);
    }),
  );
});

test('a message for the caller shows what it holds: no control or direction characters, and no more than 500', () => {
  const message = `a\u202Eb\u0007${'x'.repeat(900)}`;
  const { blocks = '' } = saidBy('pre_call', exits(JSON.stringify({ decision: 'block', message })), {});
  expect(blocks).toMatch(/^a⟦U\+202E⟧b⟦/);
  expect(blocks.length).toBeLessThan(600);
});

test('one session that floods its hooks is refused; another session goes on', async () => {
  const held = Promise.withResolvers<void>();
  const run: Hook['run'] = async (input) => {
    if (input.includes('flood')) await held.promise;
    return exits('{"decision":"go"}');
  };
  const at = await world({ hooks: [{ name: 'slow', on: 'pre_call', run }] });
  await E(at.granter).grant(at.session.id, 'many', 'notes', { for: 60_000 });
  const many = await at.session.cap<Notes>('many');
  const flood = Array.from({ length: 80 }, () => refusal(E(many).read('flood')));
  const other = await at.host.openSession({ name: 'other', granters: ['alice'] });
  await E(at.granter).grant(other.id, 'notes', 'notes', { for: 60_000 });
  expect(await E(await other.cap<Notes>('notes')).read('a')).toBe('text of a');
  held.resolve();
  expect((await Promise.all(flood)).some((text) => text.startsWith('limit: too many calls'))).toBe(true);
});
