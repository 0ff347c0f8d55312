/** Writing, verifying and exporting, with an attacker in between. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { anyCharacter } from '../../../../test/any-character.ts';
import { volume } from '../../../../test/depth.ts';
import { sha256 } from '../drivers/hash.ts';
import { systemRandom } from '../drivers/random.ts';
import type { StoreEngine } from '../store/engine.ts';
import { makeEngine } from '../store/engine.ts';
import { memoryRows } from '../store/memory.ts';
import { engineOf, openStore, type Store, storeOf } from '../store/store.ts';
import { testClock } from '../testing/test-clock.ts';
import { type Ledger, makeLedger } from './chain.ts';
import { exportLedger } from './export.ts';
import type { KnownLedgerEntry } from './kinds.ts';
import { KINDS } from './kinds.ts';
import { makeLine } from './line.ts';
import { type LedgerVerdict, verifyLedger } from './verify.ts';

const powers = { clock: testClock(), random: systemRandom };

function scratch(): string {
  const folder = join(mkdtempSync(join(tmpdir(), 'hob-ledger-')), 'state');
  mkdirSync(folder);
  onTestFinished(() => rmSync(dirname(folder), { recursive: true, force: true }));
  return folder;
}

async function open(path?: string): Promise<{ store: Store; engine: StoreEngine; ledger: Ledger }> {
  const store = await openStore(path === undefined ? { memory: true } : { path });
  onTestFinished(() => store.close());
  const engine = engineOf(store);
  return { store, engine, ledger: makeLedger(engine, powers) };
}

const call = (n: number): KnownLedgerEntry => ({
  kind: 'call',
  fields: { grant: 'g1', session: 's1', method: 'readText', use: n },
});
const calls = (count: number): KnownLedgerEntry[] => Array.from({ length: count }, (_, i) => call(i));

async function linesOf(store: Store): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of exportLedger(store)) lines.push(line);
  return lines;
}

/** Ten lines as they would be exported. */
async function tenLines(): Promise<string[]> {
  const { store, ledger } = await open();
  ledger.write(calls(9));
  return linesOf(store);
}

function verifyText(text: string | Uint8Array): Promise<LedgerVerdict> {
  const file = join(scratch(), 'export.jsonl');
  writeFileSync(file, text);
  return verifyLedger({ file });
}

/** The same line with other fields. Everything about it is right except its place in the chain. */
function forged(line: string, change: Record<string, unknown> = {}): string {
  const { v: _v, seq, t, vt, k, prev, crc: _crc, ...fields } = JSON.parse(line);
  const parts = { seq, t, vt, kind: k, prev, ...change };
  return Buffer.from(makeLine({ ...parts, fields: { ...fields, method: 'forged' } }).bytes).toString();
}

test('each line names the SHA-256 of the bytes before it, from a genesis line with a random stream on', async () => {
  const lines = await tenLines();
  lines.forEach((line, index) => {
    const before = lines[index - 1];
    const said = JSON.parse(line);
    expect([said.v, said.seq, said.prev]).toEqual([1, index + 1, before === undefined ? '' : sha256(before)]);
    expect([said.t, said.vt]).toEqual([powers.clock.wall(), powers.clock.boottime()]);
    expect(said.k).toBe(index === 0 ? 'genesis' : 'call');
  });
  expect(JSON.parse(lines[0]!).stream).not.toBe(JSON.parse((await tenLines())[0]!).stream);
});

test('prepared lines become part of the ledger with the commit they go into, and not before', async () => {
  const { store, engine, ledger } = await open();
  const lines = ledger.prepare([call(1), { kind: 'result', fields: { call: 2, code: 'ok' } }]);
  expect(engine.head().seq).toBe(1);
  engine.commit(engine.epoch, { lines });
  expect(engine.head()).toMatchObject({ seq: 3, hash: lines[1]?.hash });
  // Made for an older head.
  expect(() => engine.commit(engine.epoch, { lines })).toThrow(expect.objectContaining({ code: 'invalid' }));
  expect(ledger.write([call(3)])).toBe(4);
  expect(await verifyLedger(store)).toMatchObject({ ok: true, lines: 4 });
});

test('one genesis only, and one bad entry keeps the whole write out', async () => {
  const { store, engine, ledger } = await open();
  const genesis = { kind: 'genesis', fields: {} } as unknown as KnownLedgerEntry;
  expect(() => ledger.write([call(1), genesis])).toThrow(expect.objectContaining({ code: 'invalid' }));
  expect(() => ledger.write([call(1), { kind: 'call', fields: { seq: 9 } }])).toThrow();
  expect(engine.head().seq).toBe(1);
  ledger.write([call(1)]);
  expect((await verifyLedger(store)).ok).toBe(true);
});

test('a ledger goes on in the same chain when its store is opened again', async () => {
  const path = scratch();
  const first = await open(path);
  first.ledger.write(calls(3));
  await first.store.close();
  const second = await open(path);
  second.ledger.write(calls(2));
  expect((await linesOf(second.store)).map((line) => JSON.parse(line).k)).toEqual([
    ...['genesis', 'call', 'call', 'call', 'checkpoint'],
    ...['restart', 'call', 'call'],
  ]);
  expect(await verifyLedger(second.store)).toMatchObject({ ok: true, lines: 8, checkpoints: 1, signed: 4 });
});

test('a full disk leaves the ledger as it was', async () => {
  const engine = makeEngine(memoryRows({ maxLines: 5 }));
  const ledger = makeLedger(engine, powers);
  ledger.write(calls(3));
  expect(() => ledger.write(calls(3))).toThrow(expect.objectContaining({ code: 'unavailable' }));
  expect(() => ledger.write(calls(1))).toThrow(expect.objectContaining({ code: 'unavailable' }));
  expect(await verifyLedger(storeOf(engine))).toMatchObject({ ok: true, lines: 4 });
});

describe('verify names the first bad line of a file', () => {
  const cases: Record<string, { bad: number; why: RegExp; meddle: (lines: string[]) => string }> = {
    'a changed byte': {
      bad: 5,
      why: /check sum/,
      meddle: (l) => join2(l.with(4, l[4]!.replace('readText', 'readTexT'))),
    },
    'a changed byte in the last line': {
      bad: 10,
      why: /check sum/,
      meddle: (l) => join2(l.with(9, l[9]!.replace('readText', 'readTexT'))),
    },
    'a line rewritten with its sum': { bad: 5, why: /was changed/, meddle: (l) => join2(l.with(4, forged(l[4]!))) },
    'the genesis rewritten with its sum': {
      bad: 1,
      why: /was changed/,
      meddle: (l) => join2(l.with(0, forged(l[0]!))),
    },
    'a wrong prev': {
      bad: 5,
      why: /prev/,
      meddle: (l) => join2(l.with(4, forged(l[4]!, { prev: sha256('other') }))),
    },
    'a wrong seq': { bad: 5, why: /line 50/, meddle: (l) => join2(l.with(4, forged(l[4]!, { seq: 50 }))) },
    'a missing line': { bad: 5, why: /line 6/, meddle: (l) => join2(l.toSpliced(4, 1)) },
    'swapped lines': { bad: 5, why: /line 6/, meddle: (l) => join2(l.with(4, l[5]!).with(5, l[4]!)) },
    'a line twice': { bad: 6, why: /line 5/, meddle: (l) => join2(l.toSpliced(5, 0, l[4]!)) },
    'a line put in': { bad: 6, why: /check sum|JSON/, meddle: (l) => join2(l.toSpliced(5, 0, '{"v":1,"seq":6}')) },
    'an empty line put in': { bad: 6, why: /JSON/, meddle: (l) => join2(l.toSpliced(5, 0, '')) },
    'bad JSON': { bad: 3, why: /JSON/, meddle: (l) => join2(l.with(2, l[2]!.slice(1))) },
    'JSON that is no record': { bad: 3, why: /check sum/, meddle: (l) => join2(l.with(2, 'null')) },
    'no genesis': { bad: 1, why: /genesis/, meddle: (l) => join2(l.slice(1)) },
    'a second genesis': { bad: 5, why: /genesis/, meddle: (l) => join2(l.with(4, forged(l[4]!, { kind: 'genesis' }))) },
    'an end cut off inside a line': { bad: 10, why: /JSON/, meddle: (l) => join2(l).slice(0, -20) },
    'an end cut off before the last brace': { bad: 10, why: /JSON/, meddle: (l) => join2(l).slice(0, -2) },
    'a line without end': { bad: 4, why: /longer/, meddle: (l) => `${join2(l.slice(0, 3))}${'x'.repeat(1_000_000)}` },
    nothing: { bad: 1, why: /genesis/, meddle: () => '' },
  };
  for (const [name, { bad, why, meddle }] of Object.entries(cases)) {
    test(name, async () => {
      const verdict = await verifyText(meddle(await tenLines()));
      expect(verdict).toMatchObject({ ok: false, lines: bad - 1, badLine: bad, why: expect.stringMatching(why) });
    });
  }

  function join2(lines: readonly string[]): string {
    return lines.map((line) => `${line}\n`).join('');
  }

  test('and finds nothing wrong with what was exported, with or without the last line break', async () => {
    const lines = await tenLines();
    expect(await verifyText(join2(lines))).toMatchObject({ ok: true, lines: 10 });
    expect(await verifyText(lines.join('\n'))).toMatchObject({ ok: true, lines: 10 });
  });

  test('every byte of an export counts: none can be another', async () => {
    const { store, ledger } = await open();
    ledger.write(calls(2));
    const good = Buffer.from(join2(await linesOf(store)));
    const file = join(scratch(), 'export.jsonl');
    for (let at = 0; at < good.length; at += 1) {
      const bad = Buffer.from(good);
      bad[at] = good[at]! ^ (1 << (at % 8));
      writeFileSync(file, bad);
      const { ok, badLine } = await verifyLedger({ file });
      expect([at, ok]).toEqual([at, false]);
      expect(badLine).toBe(good.subarray(0, at).toString('latin1').split('\n').length);
    }
  });

  test('any ledger verifies, and no change of one byte in it goes unseen', async () => {
    const kind = fc.constantFrom(
      ...(Object.keys(KINDS) as KnownLedgerEntry['kind'][]).filter(
        (k) => !['genesis', 'restart', 'restored', 'trust', 'checkpoint', 'cut', 'redact'].includes(k),
      ),
    );
    const entry = fc.record({
      kind,
      fields: fc.record({ method: fc.string({ unit: anyCharacter }), more: fc.jsonValue() }),
    });
    const file = join(scratch(), 'export.jsonl');
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(entry, { maxLength: 5 }), { maxLength: 5 }),
        fc.nat(),
        fc.integer({ min: 1, max: 255 }),
        async (writes, where, flip) => {
          const engine = makeEngine(memoryRows());
          const ledger = makeLedger(engine, powers);
          for (const entries of writes) ledger.write(entries);
          const store = storeOf(engine);
          const count = engine.head().seq;
          expect(await verifyLedger(store)).toMatchObject({ ok: true, lines: count });
          const good = Buffer.from(join2(await linesOf(store)));
          writeFileSync(file, good);
          expect(await verifyLedger({ file })).toMatchObject({ ok: true, lines: count });
          const at = where % good.length;
          const bad = Buffer.from(good);
          bad[at] = good[at]! ^ flip;
          writeFileSync(file, bad);
          expect((await verifyLedger({ file })).ok).toBe(false);
        },
      ),
      { numRuns: volume(15, 60) },
    );
  });
});

describe('verify names the first bad line of a store', () => {
  const cases: Record<string, { bad: number; why: RegExp; sql: string }> = {
    'a changed row': {
      bad: 5,
      why: /check sum/,
      sql: `UPDATE line SET bytes = CAST(replace(CAST(bytes AS TEXT), 'readText', 'readTexT') AS BLOB) WHERE seq = 5`,
    },
    'a deleted row': { bad: 5, why: /line 6/, sql: 'DELETE FROM line WHERE seq = 5' },
    'deleted last rows': { bad: 9, why: /missing/, sql: 'DELETE FROM line WHERE seq > 8' },
    'no rows left': { bad: 1, why: /missing/, sql: 'DELETE FROM line' },
    'a row before the first': {
      bad: 1,
      why: /genesis/,
      sql: `INSERT INTO line SELECT -4, bytes FROM line WHERE seq = 4`,
    },
    'a row after the last': {
      bad: 12,
      why: /line 4/,
      sql: `INSERT INTO line SELECT 12, bytes FROM line WHERE seq = 4`,
    },
    'two rows that changed places': {
      bad: 5,
      why: /line 6/,
      sql: `UPDATE line SET seq = -1 WHERE seq = 5; UPDATE line SET seq = 5 WHERE seq = 6; UPDATE line SET seq = 6 WHERE seq = -1`,
    },
  };
  for (const [name, { bad, why, sql }] of Object.entries(cases)) {
    test(name, async () => {
      const path = scratch();
      const { store, ledger } = await open(path);
      ledger.write(calls(9));
      expect(await verifyLedger(store)).toMatchObject({ ok: true, lines: 10 });
      await store.close();
      const database = new DatabaseSync(join(path, 'store.db'));
      database.exec(sql);
      database.close();
      const again = await openStore({ path });
      onTestFinished(() => again.close());
      expect(await verifyLedger(again)).toMatchObject({
        ok: false,
        lines: bad - 1,
        badLine: bad,
        why: expect.stringMatching(why),
      });
    });
  }

  test('the last line rewritten with its sum: no line vouches for it, but the head does', async () => {
    const path = scratch();
    const { store, ledger } = await open(path);
    ledger.write(calls(9));
    await store.close();
    const database = new DatabaseSync(join(path, 'store.db'));
    const last = Buffer.from(database.prepare('SELECT bytes FROM line WHERE seq = 11').get()!['bytes'] as Uint8Array);
    database.prepare('UPDATE line SET bytes = ? WHERE seq = 11').run(Buffer.from(forged(last.toString())));
    database.close();
    const again = await openStore({ path });
    onTestFinished(() => again.close());
    expect(await verifyLedger(again)).toMatchObject({ ok: false, badLine: 11 });
  });

  test('an empty store has no bad line, and a store may be written while it is verified', async () => {
    const empty = await openStore({ memory: true });
    expect(await verifyLedger(empty)).toMatchObject({ ok: true, lines: 0 });
    const { store, ledger } = await open();
    ledger.write(calls(2000));
    const verdict = verifyLedger(store);
    await new Promise((resolve) => setImmediate(resolve));
    ledger.write(calls(100));
    expect(await verdict).toMatchObject({ ok: true, lines: 2103, checkpoints: 2, signed: 2001 });
  });
});

describe('export', () => {
  /** The store with a count of its listeners. */
  function watched() {
    const engine = makeEngine(memoryRows());
    const ledger = makeLedger(engine, powers);
    const listening = { now: 0 };
    const counted =
      (listen: StoreEngine['onCommit']): StoreEngine['onCommit'] =>
      (listener) => {
        listening.now += 1;
        const stop = listen(listener);
        return () => {
          listening.now -= 1;
          stop();
        };
      };
    const store = storeOf(
      Object.assign(engine, {
        onCommit: counted(engine.onCommit.bind(engine)),
        onClose: counted(engine.onClose.bind(engine)),
      }),
    );
    onTestFinished(() => store.close());
    return { store, engine, ledger, listening };
  }
  const seqs = (lines: readonly string[]): number[] => lines.map((line) => JSON.parse(line).seq);

  test('begins where it is told and ends at the last line', async () => {
    const { store, ledger, listening } = watched();
    ledger.write(calls(999));
    const lines: string[] = [];
    for await (const line of exportLedger(store, { from: 400 })) lines.push(line);
    expect(seqs(lines)).toEqual(Array.from({ length: 602 }, (_, i) => 400 + i));
    for await (const _ of exportLedger(store, { from: 5000 })) expect.fail('there is no such line');
    for (const from of [0, -1, 1.5, Number.NaN]) {
      expect(() => exportLedger(store, { from })).toThrow(expect.objectContaining({ code: 'invalid' }));
    }
    expect(listening.now).toBe(0);
  });

  test('follows each commit, and ends complete when the store closes, also on what was committed just before', async () => {
    const { store, ledger, listening } = watched();
    const lines: string[] = [];
    const over = (async () => {
      for await (const line of exportLedger(store, { follow: true })) lines.push(line);
    })();
    for (let i = 0; i < 20; i += 1) {
      ledger.write(calls(1 + (i % 3)));
      if (i % 4 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    ledger.write(calls(700));
    await store.close();
    await over;
    expect(seqs(lines)).toEqual(Array.from({ length: lines.length }, (_, i) => i + 1));
    expect(lines.length).toBe(1 + 39 + 700 + 1);
    expect(listening.now).toBe(0);
  });

  test('a follower that is far behind at the close is told from which line to go on', async () => {
    const { store, ledger } = watched();
    ledger.write(calls(10_000));
    const lines: string[] = [];
    const reading = (async () => {
      for await (const line of exportLedger(store, { follow: true })) {
        lines.push(line);
        if (lines.length === 10) await store.close();
      }
    })();
    await expect(reading).rejects.toMatchObject({ code: 'unavailable', message: expect.stringMatching(/line 4353/) });
    expect(lines.length).toBe(4352);
  });

  test('who breaks out, or hangs up while waiting, leaves no listener behind and does not wait for a commit', async () => {
    const { store, ledger, listening } = watched();
    for await (const _ of exportLedger(store, { follow: true })) break;
    expect(listening.now).toBe(0);

    const waiting = exportLedger(store, { follow: true })[Symbol.asyncIterator]();
    expect((await waiting.next()).done).toBe(false);
    const never = waiting.next();
    await new Promise((resolve) => setImmediate(resolve));
    expect(listening.now).toBe(2);
    await waiting.return?.();
    expect(await never).toEqual({ done: true, value: undefined });
    expect(listening.now).toBe(0);
    ledger.write([call(1)]);
    expect((await waiting.next()).done).toBe(true);

    const unused = exportLedger(store, { follow: true })[Symbol.asyncIterator]();
    await unused.return?.();
    expect(listening.now).toBe(0);
  });
});
