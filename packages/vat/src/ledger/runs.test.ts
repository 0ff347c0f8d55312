/** Runs of equal refusals: one row with a count, and the sums of the counts. */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { volume } from '../../../../test/depth.ts';
import { systemRandom } from '../drivers/random.ts';
import { engineOf, openStore, type Store } from '../store/store.ts';
import { type TestClock, testClock } from '../testing/test-clock.ts';
import { type Ledger, makeLedger } from './chain.ts';
import { exportLedger } from './export.ts';
import type { KnownLedgerEntry } from './kinds.ts';
import { verifyLedger } from './verify.ts';

async function open(): Promise<{ store: Store; ledger: Ledger; clock: TestClock; rows: () => Promise<Row[]> }> {
  const store = await openStore({ memory: true });
  onTestFinished(() => store.close());
  const clock = testClock();
  const ledger = makeLedger(engineOf(store), { clock, random: systemRandom });
  return {
    store,
    ledger,
    clock,
    rows: async () => (await rowsOf(store)).filter(({ k }) => k !== 'checkpoint').slice(1),
  };
}

interface Row {
  readonly k: string;
  readonly grant?: string;
  readonly code?: string;
  readonly count?: number;
  readonly since?: number;
  readonly [field: string]: unknown;
}

async function rowsOf(store: Store): Promise<Row[]> {
  const rows: Row[] = [];
  for await (const line of exportLedger(store)) rows.push(JSON.parse(line));
  return rows;
}

const refuse = (grant: string, method = 'read', code = 'revoked'): KnownLedgerEntry => ({
  kind: 'refuse',
  fields: { grant, method, code },
});
const call = (grant: string): KnownLedgerEntry => ({ kind: 'call', fields: { grant, method: 'read' } });
const short = (rows: readonly Row[]): unknown[] =>
  rows.map(({ k, grant, count }) => `${k} ${grant}${count === undefined ? '' : ` +${count}`}`);

test('the first is written at once, those like it are counted, and the count comes a second later', async () => {
  const { ledger, clock, rows } = await open();
  for (let i = 0; i < 100; i += 1) ledger.write([refuse('g1')]);
  expect(short(await rows())).toEqual(['refuse g1']);
  clock.advance(1000);
  expect(short(await rows())).toEqual(['refuse g1', 'refuse g1 +99']);
  expect((await rows())[1]).toMatchObject({ method: 'read', code: 'revoked', since: clock.wall() - 1000 });
});

test('a run that goes on costs one row a second', async () => {
  const { ledger, clock, rows } = await open();
  for (let i = 0; i < 1000; i += 1) {
    ledger.write([refuse('g1')]);
    clock.advance(10);
  }
  clock.advance(2000);
  expect((await rows()).length).toBeLessThanOrEqual(12);
  expect(sum(await rows())).toBe(1000);
  expect(clock.pending()).toBe(1); // the checkpoint's; none for a run that is over
});

test('whatever else is written for that grant comes after the count; other grants do not matter', async () => {
  const { ledger, rows } = await open();
  ledger.write([refuse('g1'), refuse('g1'), refuse('g1')]);
  ledger.write([call('g2'), refuse('g2'), refuse('g1')]);
  ledger.write([refuse('g1'), { kind: 'revoke', fields: { grant: 'g1' } }, refuse('g1')]);
  expect(short(await rows())).toEqual([
    ...['refuse g1', 'call g2', 'refuse g2'],
    ...['refuse g1 +4', 'revoke g1', 'refuse g1'],
  ]);
});

test('another method, another code or any other field is no equal refusal', async () => {
  const { ledger, rows } = await open();
  const more: KnownLedgerEntry = { kind: 'refuse', fields: { ...refuse('g1').fields, session: 's2' } };
  ledger.write([refuse('g1'), refuse('g1', 'write'), refuse('g1', 'write', 'expired'), more, more]);
  expect((await rows()).length).toBe(4);
});

test('the count is written at the close', async () => {
  const { ledger, store, clock, rows } = await open();
  ledger.write([refuse('g1'), refuse('g1'), refuse('g2'), refuse('g1')]);
  ledger.close();
  expect(short(await rows())).toEqual(['refuse g1', 'refuse g2', 'refuse g1 +2']);
  expect(clock.pending()).toBe(0);
  expect(await verifyLedger(store)).toMatchObject({ ok: true });
});

test('grants in any number cannot fill the memory: the oldest run is closed, its count written', async () => {
  const { ledger, rows } = await open();
  for (let i = 0; i < 3000; i += 1) ledger.write([refuse(`g${i}`), refuse(`g${i}`)]);
  expect((await rows()).filter(({ count }) => count === 1).length).toBe(3000 - 1024);
});

test('write returns the number of the line, or of the last line if the entry was only counted', async () => {
  const { ledger, rows } = await open();
  expect(ledger.write([refuse('g1')])).toBe(2);
  expect(ledger.write([refuse('g1')])).toBe(2);
  expect(ledger.write([call('g1')])).toBe(4);
  expect(short(await rows())).toEqual(['refuse g1', 'refuse g1 +1', 'call g1']);
});

test('whatever the order of lines and time: each refusal is counted once, in its place, and calls are all there', async () => {
  const step = fc.oneof(
    fc.record({
      do: fc.constant('refuse' as const),
      grant: fc.constantFrom('a', 'b'),
      code: fc.constantFrom('x', 'y'),
    }),
    fc.record({ do: fc.constant('call' as const), grant: fc.constantFrom('a', 'b'), code: fc.constant('') }),
    fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(1, 400, 1000, 61_000) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const { ledger, clock, rows } = await open();
      for (const step of steps) {
        if (step.do === 'wait') clock.advance(step.ms);
        else ledger.write([step.do === 'call' ? call(step.grant) : refuse(step.grant, 'm', step.code)]);
        // Never more than there were.
        const said = steps.slice(0, steps.indexOf(step) + 1).filter(({ do: what }) => what === 'refuse').length;
        expect(sum(await rows())).toBeLessThanOrEqual(said);
      }
      ledger.close();
      for (const grant of ['a', 'b']) {
        // For one grant the rows, with their counts expanded, are the entries in their order.
        const written = steps.flatMap((s) => (s.do !== 'wait' && s.grant === grant ? [`${s.do} ${s.code}`] : []));
        const unfolded = (await rows())
          .filter((row) => row.grant === grant)
          .flatMap(({ k, code, count = 1 }) => Array<string>(count).fill(`${k} ${code ?? ''}`));
        expect(unfolded).toEqual(written);
      }
    }),
    { numRuns: volume(40, 150) },
  );
});

test('after kill -9 only the count of the open window is missing: the sum is never too large', {
  timeout: 300_000,
}, async () => {
  const url = (file: string): string => JSON.stringify(new URL(file, import.meta.url).href);
  const program = (path: string): string => `
    import { writeSync } from 'node:fs';
    import { engineOf, openStore } from ${url('../store/store.ts')};
    import { makeLedger } from ${url('./chain.ts')};
    import { systemClock } from ${url('../drivers/clock.ts')};
    import { systemRandom } from ${url('../drivers/random.ts')};
    const ledger = makeLedger(engineOf(await openStore({ path: ${JSON.stringify(path)} })), { clock: systemClock(), random: systemRandom });
    const refuse = { kind: 'refuse', fields: { grant: 'g1', method: 'read', code: 'revoked' } };
    for (let n = 1; ; n += 1) {
      writeSync(1, n + '\\n'); // before: the killed process may not have reached it
      ledger.write(n % 50 === 0 ? [refuse, { kind: 'call', fields: { grant: 'g1', n } }] : [refuse]);
      if (n % 20 === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    }`;
  for (let i = 0; i < 6; i += 1) {
    const path = join(mkdtempSync(join(tmpdir(), 'hob-runs-')), 'state');
    mkdirSync(path);
    onTestFinished(() => rmSync(dirname(path), { recursive: true, force: true }));
    const child = spawn(process.execPath, ['--input-type=module', '-e', program(path)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let said = '';
    const over = new Promise((resolve) => child.once('close', resolve));
    await new Promise<void>((resolve) => {
      child.stdout.on('data', (chunk: Buffer) => {
        said += chunk.toString();
        if (said.length > 200) resolve();
      });
    });
    await new Promise((resolve) => setTimeout(resolve, 40 + i * 30));
    child.kill('SIGKILL');
    await over;
    const tried = Number(said.split('\n').at(-2));
    const store = await openStore({ path });
    try {
      const rows = await rowsOf(store);
      expect(sum(rows)).toBeLessThanOrEqual(tried);
      // Up to the last call nothing is missing, because the call came after the count.
      const last = rows.findLastIndex(({ k }) => k === 'call');
      expect(sum(rows.slice(0, last + 1))).toBe(Number(rows[last]?.['n']));
      expect(await verifyLedger(store)).toMatchObject({ ok: true });
    } finally {
      await store.close();
    }
  }
});

function sum(rows: readonly Row[]): number {
  return rows.filter(({ k }) => k === 'refuse').reduce((all, { count = 1 }) => all + count, 0);
}
