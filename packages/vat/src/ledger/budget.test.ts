/**
 * A session that tries to fill the disk. Its budget must not keep anything that happened out of the ledger.
 */
import { expect, onTestFinished, test } from 'vitest';
import { spawn } from '../actor/actor.ts';
import { CapError } from '../core/errors.ts';
import type { Definition } from '../core/types.ts';
import { E } from '../eventual/eventual.ts';
import { openStore, type Store } from '../store/store.ts';
import { testClock } from '../testing/test-clock.ts';
import { define } from '../turn/portrait.ts';
import { ledgerLine } from '../turn/turn.ts';
import { openVats } from '../vats/vats.ts';
import { exportLedger } from './export.ts';
import { ledgerArguments } from './redact.ts';
import { verifyLedger } from './verify.ts';

interface Door {
  pass(method: string, ...args: readonly unknown[]): string;
  refuse(method: string): void;
  say(kind: string): void;
}
const Door: Definition<Door, []> = define('Door', (_bcom) => ({
  pass: (method: string, ...args: readonly unknown[]) => {
    ledgerLine('call', { grant: 'g1', method }, args);
    return 'passed';
  },
  refuse: (method: string) => {
    ledgerLine('refuse', { grant: 'g1', method, code: 'denied' });
    throw new CapError('denied', 'no');
  },
  say: (kind: string) => ledgerLine(kind, { grant: 'g1' }),
}));

async function session(lines: number, more: Readonly<Record<string, number>> = {}) {
  const store = await openStore({ memory: true });
  const clock = testClock();
  const vats = await openVats({ store, clock });
  onTestFinished(async () => {
    await vats.close();
    await store.close();
  });
  const meter = vats.meter('session:bad', { lines, ...more });
  const door = await vats.vat('bad', { meter }).turn(() => spawn(Door()));
  const other = await vats.vat('good').turn(() => spawn(Door()));
  return { store, clock, vats, meter, door: E(door), other: E(other) };
}

async function rowsOf(store: Store): Promise<Record<string, unknown>[]> {
  const rows = [];
  for await (const line of exportLedger(store)) rows.push(JSON.parse(line));
  return rows.filter(({ k }) => k !== 'checkpoint').slice(1);
}
const code = (promise: Promise<unknown>): Promise<unknown> => promise.then(String, ({ code }) => code);

test('over its budget a session is refused with limit, one line says so, and others go on', async () => {
  const { store, door, other, meter } = await session(10);
  const codes = [];
  for (let i = 0; i < 500; i += 1) codes.push(await code(door.pass(`m${i}`)));
  expect(codes.slice(0, 10).every((c) => c === 'passed')).toBe(true);
  expect(codes.slice(10).every((c) => c === 'limit')).toBe(true);
  expect(await code(other.pass('m'))).toBe('passed');
  const rows = await rowsOf(store);
  expect(rows.filter(({ meter }) => meter === 'session:bad')).toMatchObject([{ k: 'refuse', code: 'limit' }]);
  expect(rows.length).toBe(10 + 1 + 1);
  expect(meter.used()['lines']).toBe(10);
});

test('refusals that differ each time fill nothing either: over budget they are one row a minute, with their number', async () => {
  const { store, door, clock } = await session(10);
  for (let i = 0; i < 300; i += 1) expect(await code(door.refuse(`m${i}`))).toBe('denied');
  for (let i = 0; i < 100; i += 1) {
    await code(door.refuse(`n${i}`));
    clock.advance(1000);
  }
  clock.advance(60_000);
  const over = (await rowsOf(store)).filter(({ meter }) => meter === 'session:bad');
  expect(over.length).toBeLessThanOrEqual(4);
  expect(over.reduce((sum, { count = 1 }) => sum + Number(count), 0)).toBe(390);
});

test('what was done or has ended is told in any case: results, revocations, expiry', async () => {
  const { store, door } = await session(3);
  for (let i = 0; i < 5; i += 1) await code(door.pass('m'));
  for (const kind of ['result', 'revoke', 'expire', 'host-stop']) expect(await code(door.say(kind))).toBe('undefined');
  for (const kind of ['grant', 'session']) expect(await code(door.say(kind))).toBe('limit');
  const kinds = (await rowsOf(store)).map(({ k }) => k);
  expect(kinds).toEqual(['call', 'call', 'call', 'refuse', 'result', 'revoke', 'expire', 'host-stop']);
});

test('an hour later there is a new budget', async () => {
  const { door, clock } = await session(2);
  expect([await code(door.pass('a')), await code(door.pass('b')), await code(door.pass('c'))]).toEqual([
    'passed',
    'passed',
    'limit',
  ]);
  clock.advance(3_599_999);
  expect(await code(door.pass('d'))).toBe('limit');
  clock.advance(1);
  expect(await code(door.pass('e'))).toBe('passed');
});

test('arguments weigh: a few large ones use up what many small ones would', async () => {
  const { door, meter } = await session(100);
  expect(await code(door.pass('m', 'x'.repeat(60_000)))).toBe('passed');
  expect(meter.used()['lines']).toBe(1 + Math.floor(60_004 / 1024));
  expect(await code(door.pass('m', 'x'.repeat(60_000)))).toBe('limit');
  expect(await code(door.pass('m', 'x'))).toBe('passed');
});

test('a turn that fails has written its lines, and pays for them', async () => {
  const { vats, meter } = await session(5);
  const vat = vats.vat('bad');
  for (let i = 0; i < 3; i += 1)
    await code(
      vat.turn(() => {
        ledgerLine('call', { grant: 'g1' });
        throw new CapError('denied', 'no');
      }),
    );
  expect(meter.used()['lines']).toBe(3);
});

test('the bytes of an hour are a budget, too: long arguments and short ones end at about as much on the disk', async () => {
  for (const text of ['x'.repeat(60_000), 'x'.repeat(3000), 'é🙂"\\n'.repeat(2000), '']) {
    const { door, meter, clock } = await session(1_000_000, { lineBytes: 200_000 });
    let passed = 0;
    while ((await code(door.pass('m', text))) === 'passed') passed += 1;
    const used = meter.used()['lineBytes'] ?? 0;
    expect(used).toBeLessThanOrEqual(200_000);
    expect(passed).toBeGreaterThan(1);
    expect(await code(door.pass('m', text))).toBe('limit');
    clock.advance(3_600_000);
    expect(await code(door.pass('m', text))).toBe('passed');
  }
});

test('of an argument no more is kept than its meter allows; the others are whole, and the ledger verifies', async () => {
  const { store, door } = await session(1000, { argumentBytes: 100 });
  const long = ['a'.repeat(60_000), 'é'.repeat(99), '🙂"\\'.repeat(5000), { deep: [['b'.repeat(1000)]] }];
  expect(await code(door.pass('m', 'short', ...long, 7))).toBe('passed');
  const [row] = await rowsOf(store);
  expect(row).toMatchObject({ k: 'call', argc: 6, argsCut: true });
  const kept = JSON.parse(ledgerArguments(store, Number(row?.['seq'])) ?? '') as unknown[];
  expect([kept[0], kept[5]]).toEqual(['short', 7]);
  for (const cut of kept.slice(1, 5)) {
    expect(cut).toEqual({ $cut: expect.stringMatching(/…$/) });
    expect(Buffer.byteLength(JSON.stringify(cut))).toBeLessThanOrEqual(100);
  }
  expect(await verifyLedger(store)).toMatchObject({ ok: true });
  expect(await code(door.pass('m', 'short'))).toBe('passed');
  expect((await rowsOf(store))[1]).not.toHaveProperty('argsCut');
});
