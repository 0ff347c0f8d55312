/** The score of a call, from a table of calls and from properties. */
import type { CallLevel } from '@hob/host';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { AssessedCall, KnownEffect } from '../call/call.ts';
import { effectOf } from '../call/effect.ts';
import { assess, levelOf } from './assessment.ts';
import { waits, wouldWait } from './decide.ts';

const effect = (of: KnownEffect['class'], undo: KnownEffect['undo'] = 'hard', outbound = false): KnownEffect => ({ class: of, undo, outbound, assumed: false }); // biome-ignore format: one line
const call = (of: Partial<AssessedCall>): AssessedCall => ({ method: 'm', args: ['a'], effect: effect('A'), sensitivity: 'ordinary', crisis: false, ...of }); // biome-ignore format: one line
const enforced = (of: AssessedCall, level: CallLevel = 'medium'): boolean => waits(assess(of, 'cap.m'), of, { mode: 'enforce', level }); // biome-ignore format: one line

test('the factors decide as the table of the README says', () => {
  const rows: readonly (readonly [string, Partial<AssessedCall>, CallLevel, boolean])[] = [
    ['reading', {}, 'low', false],
    ['reading what much depends on', { sensitivity: 'high' }, 'medium', false],
    ['a local change', { effect: effect('B', 'easy') }, 'medium', false],
    ['a broad local change', { effect: effect('B'), args: ['a', { recursive: true }] }, 'medium', true],
    ['a change of what much depends on', { effect: effect('B'), sensitivity: 'high' }, 'high', true],
    ['an effect outside', { effect: effect('C', 'hard', true) }, 'medium', false],
    ['an effect outside that says little', { effect: effect('C', 'hard', true), args: [''] }, 'medium', true],
    ['an effect that cannot be undone', { effect: effect('C', 'impossible', true) }, 'high', true],
    ['a critical method', { effect: effect('D', 'easy') }, 'high', true],
    ['a method that nobody declared', { effect: effectOf('x', undefined, []) }, 'medium', true],
    ['a method that the offer says reads', { effect: effectOf('x', undefined, ['x']) }, 'low', false],
    ['a message to a person in danger', { effect: effect('C', 'hard', true), crisis: true }, 'high', true],
  ];
  for (const [name, of, level, asks] of rows) {
    const it = call(of);
    expect([name, levelOf(assess(it, 'cap.m').risk_score), enforced(it)]).toEqual([name, level, asks]);
  }
});

test('the thresholds of the report: below 0.25 a call goes on, above 0.6 it waits, between if confidence is weak', () => {
  for (const [
    score,
    sure,
    asks,
  ] of [[0.249, 0, false], [0.25, 0.5, false], [0.25, 0.49, true], [0.6, 0.5, false], [0.6, 0.49, true], [0.601, 1, true]] as const) // biome-ignore format: a table
    expect([score, sure, wouldWait(score, sure, 'medium')]).toEqual([score, sure, asks]);
  expect(wouldWait(0.25, 1, 'low')).toBe(true);
  expect(wouldWait(1, 1, 'high')).toBe(false);
  expect(wouldWait(1, 0.4, 'high')).toBe(true);
});

test('a method of a prototype is no declared method', () => {
  expect(effectOf('constructor', {}, [])).toMatchObject({ assumed: true, outbound: true });
  expect(effectOf('toString', { run: { class: 'A' } }, [])).toMatchObject({ class: 'C' });
});

const effects = fc.record({
  class: fc.constantFrom('A', 'B', 'C', 'D'),
  undo: fc.constantFrom('easy', 'hard', 'impossible'),
  outbound: fc.boolean(),
  assumed: fc.boolean(),
}) as fc.Arbitrary<KnownEffect>;
const calls = fc.record({
  method: fc.string(),
  args: fc.array(fc.anything()),
  effect: effects,
  sensitivity: fc.constantFrom('scratch', 'ordinary', 'high'),
  crisis: fc.boolean(),
}) as fc.Arbitrary<AssessedCall>;
const opinions = fc.record({ risk: fc.double(), confidence: fc.double(), reason: fc.string() });
const levels = fc.constantFrom<CallLevel>('low', 'medium', 'high');

test('for every call and plugin: an opinion never lowers the score or raises the confidence, and never ends a wait', () => {
  fc.assert(
    fc.property(calls, opinions, levels, (of, opinion, level) => {
      const [plain, heard] = [assess(of, 'm'), assess(of, 'm', [() => opinion])];
      expect(heard.risk_score).toBeGreaterThanOrEqual(plain.risk_score);
      expect(heard.confidence).toBeLessThanOrEqual(plain.confidence);
      for (const mode of ['observe', 'enforce'] as const)
        if (waits(plain, of, { mode, level })) expect(waits(heard, of, { mode, level })).toBe(true);
    }),
  );
});

test('a worse factor never lowers the score, and a lower level never lets more through', () => {
  const worse: readonly ((of: AssessedCall) => AssessedCall)[] = [
    (of) => ({ ...of, crisis: true }),
    (of) => ({ ...of, sensitivity: 'high' }),
    (of) => ({ ...of, effect: { ...of.effect, outbound: true } }),
    (of) => ({ ...of, effect: { ...of.effect, undo: 'impossible' } }),
    (of) => ({ ...of, effect: { ...of.effect, class: 'D' } }),
  ];
  fc.assert(
    fc.property(calls, (of) => {
      for (const change of worse)
        expect(assess(change(of), 'm').risk_score).toBeGreaterThanOrEqual(assess(of, 'm').risk_score);
      const [low, medium, high] = (['low', 'medium', 'high'] as const).map((level) => enforced(of, level));
      expect([low || !medium, medium || !high]).toEqual([true, true]);
    }),
  );
});

test('a plugin that throws makes the call wait', () => {
  const failing = assess(call({}), 'm', [() => { throw new Error('broken'); }]); // biome-ignore format: one line
  expect(failing).toMatchObject({ risk_score: 1, requires_human: true });
});

test('a crisis-sensitive call that leaves waits at every level and in both modes; a local draft goes on', () => {
  fc.assert(
    fc.property(effects, levels, fc.constantFrom('observe' as const, 'enforce' as const), (of, level, mode) => {
      const danger = call({ effect: { ...of, outbound: true }, crisis: true });
      expect(waits(assess(danger, 'm'), danger, { mode, level })).toBe(true);
    }),
  );
  const draft = call({ effect: effect('B', 'easy'), crisis: true });
  expect(waits(assess(draft, 'm'), draft, { mode: 'observe', level: 'medium' })).toBe(false);
});
