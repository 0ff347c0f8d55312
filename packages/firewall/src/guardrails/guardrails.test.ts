/** The loop guardrails as rules: tables of calls with their outcomes, and properties. */
import type { LoopCall } from '@hob/host';
import { CapError } from '@hob/vat';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { mostSeen } from './counts.ts';
import { makeGuardrails } from './guardrails.ts';
import type { GuardrailOptions } from './thresholds.ts';

type Outcome = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly error: Error };
type Step = Partial<LoopCall> & { readonly gives: Outcome };

const returns = (value: unknown): Outcome => ({ ok: true, value });
const fails = (message = 'no', code = 'NOT_FOUND'): Outcome => ({ ok: false, error: new CapError(code, message) });
const effects: LoopCall['effects'] = {
  read: { class: 'A' },
  now: { class: 'A', volatile: ['at'] },
  next: { class: 'A', idempotent: false },
  put: { class: 'C', idempotent: true },
  write: { class: 'B' },
};

/** Plays calls on one cap: for each `ok`, `warn` or `stop`. What is stopped has no outcome. */
function play(steps: readonly Step[], options?: GuardrailOptions): readonly string[] {
  const guard = makeGuardrails(options);
  let kept: unknown;
  return steps.map(({ gives, ...of }) => {
    const call: LoopCall = { method: 'write', args: ['a'], effects, reads: [], object: () => 'cap', ...of };
    try {
      guard.before(call, kept);
    } catch (error) {
      expect(error).toMatchObject({ code: 'limit', message: expect.stringContaining('Change the arguments') });
      return 'stop';
    }
    const change = guard.after(call, gives, kept);
    // As the store of a host would keep it.
    if (change !== undefined) kept = JSON.parse(JSON.stringify(change.kept));
    return change?.warning === undefined ? 'ok' : 'warn';
  });
}

const times = <T>(count: number, item: T): T[] => Array.from({ length: count }, () => item);
const five = ['ok', 'warn', 'warn', 'warn', 'warn', 'stop'];

test('each guardrail warns and stops at its number, and five calls run before the sixth is answered without being sent', () => {
  const rows: readonly (readonly [string, readonly Step[], readonly string[]])[] = [
    ['an exact failure', times(6, { gives: fails() }), five],
    ['an exact failure, with the keys in another order', [...times(5, { args: [{ a: 1, b: [2] }], gives: fails() }), { args: [{ b: [2], a: 1 }], gives: fails() }], five],
    ['another error each time', [1, 2, 3, 4, 5, 6].map((n) => ({ gives: fails(`no ${n}`) })), ['ok', 'ok', 'warn', 'warn', 'warn', 'warn']],
    ['the same method with other arguments', [...Array(9).keys()].map((n) => ({ args: [n], gives: fails() })), ['ok', 'ok', ...times(6, 'warn'), 'stop']],
    ['the same result', times(6, { method: 'read', gives: returns({ text: 'x' }) }), five],
    ['the same bytes', times(6, { method: 'read', gives: returns(new Uint8Array([1, 2])) }), five],
    ['the same result but for a volatile field', [1, 2, 3, 4, 5, 6].map((at) => ({ method: 'now', gives: returns({ is: 'x', at }) })), five],
    ['a field that nobody declared volatile', [1, 2, 3, 4, 5, 6].map((at) => ({ method: 'read', gives: returns({ is: 'x', at }) })), times(6, 'ok')],
    ['the next part of a stream', times(6, { method: 'next', gives: returns(new Uint8Array(9)) }), times(6, 'ok')],
    ['a change that is not idempotent', times(6, { gives: returns('done') }), times(6, 'ok')],
    ['a change that says that it is', times(6, { method: 'put', gives: returns('done') }), five],
    ['a method that an offer says reads', times(6, { method: 'x', effects: undefined, reads: ['x'], gives: returns(1) }), five],
    ['a method that nobody declared', times(6, { method: 'constructor', gives: returns(1) }), times(6, 'ok')],
    ['two objects in turn', [...Array(8).keys()].map((n) => ({ method: 'read', object: () => `${n % 4}`, gives: returns([]) })), [...times(4, 'ok'), ...times(4, 'warn')]],
    ['arguments that are no data: only the method is counted', times(9, { args: [() => {}], gives: fails() }), ['ok', 'ok', ...times(6, 'warn'), 'stop']],
    ['drafts, cancelled calls and ended grants', [...times(4, { gives: fails('', 'drafted') }), ...times(4, { gives: fails('', 'revoked') }), { gives: fails('', 'expired') }], times(9, 'ok')],
  ]; // biome-ignore format: a table
  for (const [name, steps, expected] of rows) expect([name, play(steps)]).toEqual([name, expected]);
});

test('a success clears its signature and the method’s count; another method, and another result, reset what they say', () => {
  const fail = { gives: fails() };
  const other = { method: 'read', gives: returns('fresh') };
  expect(play([...times(4, fail), { gives: returns(1) }, ...times(6, fail)])).toEqual(['ok', 'warn', 'warn', 'warn', 'ok', ...five]); // biome-ignore format: one line
  // Another signature of the method succeeds: the method's count is cleared, the signature's is not.
  expect(play([...times(4, fail), { args: ['b'], gives: returns(1) }, fail, fail])).toEqual(['ok', 'warn', 'warn', 'warn', 'ok', 'warn', 'stop']); // biome-ignore format: one line
  expect(play([...times(4, fail), other, fail, fail])).toEqual(['ok', 'warn', 'warn', 'warn', 'ok', 'warn', 'stop']);
  const read = (value: unknown): Step => ({ method: 'read', gives: returns(value) });
  expect(play([read(1), read(1), read(2), read(2), read(1)])).toEqual(['ok', 'warn', 'ok', 'warn', 'ok']);
  expect(play([...times(4, read(1)), fail, { gives: returns(1) }, read(1), read(1)])).toEqual(['ok', 'warn', 'warn', 'warn', 'ok', 'ok', 'warn', 'stop']); // biome-ignore format: one line
});

test('thresholds are options, each guardrail is switched off by its name, and odd ones are refused', () => {
  const fail = { gives: fails() };
  expect(play(times(3, fail), { exactFailure: { warn: 1, stop: 2 } })).toEqual(['warn', 'warn', 'stop']);
  expect(play(times(9, fail), { exactFailure: 'off' })).toEqual(['ok', 'ok', ...times(6, 'warn'), 'stop']);
  expect(play(times(9, fail), { exactFailure: 'off', sameMethod: 'off' })).toEqual(times(9, 'ok'));
  expect(play(times(9, { method: 'read', gives: returns(1) }), { sameResult: 'off' })).toEqual(times(9, 'ok'));
  for (const odd of [{ warn: 3, stop: 2 }, { warn: 0, stop: 2 }, { warn: 1 }, { warn: 1, stop: 1.5 }, { warn: 1, stop: 2, ask: 3 }, 'on', false]) // biome-ignore format: one line
    expect(() => makeGuardrails({ exactFailure: odd as never })).toThrow(/exactFailure/);
  expect(() => makeGuardrails({ exact: 'off' } as never)).toThrow(/exact/);
});

test('a stored value that is none counts as nothing', () => {
  const guard = makeGuardrails();
  const call: LoopCall = { method: 'read', args: [], effects, reads: [], object: () => 'cap' };
  for (const kept of [null, 1, 'x', [], { failed: 1 }, { failed: [], same: [] }]) {
    expect(() => guard.before(call, kept)).not.toThrow();
    expect(guard.after(call, returns(1), kept)).toMatchObject({ warning: undefined });
  }
});

const step: fc.Arbitrary<Step> = fc.record({
  method: fc.constantFrom('read', 'write', 'put'),
  args: fc.constantFrom(['a'], ['b'], [{ a: 1, b: 2 }]),
  gives: fc.constantFrom(returns(1), returns(2), fails('one'), fails('two')),
});

test('for any calls: what is stopped was warned of before, never on its first call, and other caps do not matter', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const said = play(steps);
      const first = said.indexOf('stop');
      if (first >= 0) expect(said.slice(0, first)).toContain('warn');
      // A stop lasts: the same call is stopped again.
      if (first >= 0) expect(play([...steps.slice(0, first), ...times(3, steps[first] as Step)]).slice(-3)).toEqual(times(3, 'stop')); // biome-ignore format: one line
      // With each guardrail off nothing is ever said.
      expect(new Set(play(steps, { exactFailure: 'off', sameMethod: 'off', sameResult: 'off' }))).not.toContain('stop');
    }),
  );
});

test('for any data: the order of keys never matters, and a higher threshold never stops earlier', () => {
  const reversed = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(reversed);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).reverse().map(([key, item]) => [key, reversed(item)]));
  }; // biome-ignore format: one screen
  fc.assert(
    fc.property(fc.jsonValue(), fc.integer({ min: 2, max: 8 }), (value, stop) => {
      const steps = [...Array(10).keys()].map((n) => ({
        args: [n % 2 === 0 ? value : reversed(value)],
        gives: fails(),
      }));
      const off = { sameMethod: 'off' } as const;
      expect(play(steps, { ...off, exactFailure: { warn: 1, stop } }).indexOf('stop')).toBe(stop);
    }),
  );
});

test('what is remembered of a cap is bounded, and what was used last is remembered', () => {
  const guard = makeGuardrails({ sameMethod: 'off' });
  let kept: unknown;
  const call = (n: number): LoopCall => ({ method: `m${n}`, args: [n], effects: undefined, reads: [`m${n}`], object: () => 'cap' }); // biome-ignore format: one line
  for (let n = 0; n < 200; n += 1) {
    kept = guard.after(call(n), fails(), kept)?.kept ?? kept;
    kept = guard.after(call(n), returns(n), kept)?.kept ?? kept;
    kept = guard.after(call(n), fails(), kept)?.kept ?? kept;
  }
  expect(JSON.stringify(kept).length).toBeLessThan(mostSeen * 3 * 100);
  expect(guard.after(call(199), fails(), kept)?.warning).toContain('has failed 2 times');
});
