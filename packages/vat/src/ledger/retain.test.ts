/**
 * Old lines are dropped. The rest verifies, and an attacker who can write the files without the key drops
 * nothing more.
 */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { crc, sha256 } from '../drivers/hash.ts';
import { openStore, type Store } from '../store/store.ts';
import { testClock } from '../testing/test-clock.ts';
import { ledgerLine } from '../turn/turn.ts';
import type { Vats } from '../vats/interface.ts';
import { openVats } from '../vats/vats.ts';
import { exportLedger } from './export.ts';
import { type Retained, retainLedger } from './retain.ts';
import { verifyLedger } from './verify.ts';

const day = 86_400_000;
const start = 1_800_000_000_000;

function scratch() {
  const above = mkdtempSync(join(tmpdir(), 'hob-retain-'));
  onTestFinished(() => rmSync(above, { recursive: true, force: true }));
  return (name: string): string => join(above, name);
}

interface Life {
  readonly store: Store;
  readonly vats: Vats;
  lines(count: number): Promise<void>;
  retain(before: number): Promise<Retained>;
}
const sent: string[] = [];

/** Runs one process on the store, `days` after the first. */
async function life<R>(path: string, days: number, act: (life: Life) => Promise<R>, memory?: Store): Promise<R> {
  const store = memory ?? (await openStore({ path, sentinel: `${path}-sentinels` }));
  let vats: Vats | undefined;
  try {
    vats = await openVats({
      store,
      clock: testClock({ wall: start + days * day }),
      definitions: [],
      onCheckpoint: (checkpoint) => void sent.push(checkpoint),
    });
    const vat = vats.vat('v');
    return await act({
      store,
      vats,
      async lines(count) {
        for (let left = count; left > 0; left -= 100)
          await vat.turn(() => {
            for (let n = 0; n < Math.min(100, left); n += 1) ledgerLine('call', { n });
          });
      },
      retain: (before) => retainLedger(store, { before: start + before * day, by: 'the operator' }),
    });
  } finally {
    await vats?.close();
    if (memory === undefined) await store.close();
  }
}
const live = (path: string, days: number, count: number): Promise<void> =>
  life(path, days, ({ lines }) => lines(count));

async function look(path: string, options: Parameters<typeof verifyLedger>[1] = {}) {
  const store = await openStore({ path, sentinel: `${path}-sentinels`, look: true });
  try {
    return await verifyLedger(store, options);
  } finally {
    await store.close();
  }
}
async function exported(path: string, file: string): Promise<string> {
  const store = await openStore({ path, look: true });
  const lines: string[] = [];
  for await (const line of exportLedger(store)) lines.push(`${line}\n`);
  await store.close();
  writeFileSync(file, lines.join(''));
  return file;
}
function edit<R>(path: string, act: (database: DatabaseSync) => R): R {
  const database = new DatabaseSync(join(path, 'store.db'));
  try {
    return act(database);
  } finally {
    database.close();
  }
}
const rowsOf = (path: string) =>
  edit(path, (database) =>
    database
      .prepare('SELECT seq, bytes FROM line ORDER BY seq')
      .all()
      .map(({ seq, bytes }) => {
        const text = Buffer.from(bytes as Uint8Array).toString();
        return { seq: Number(seq), text, said: JSON.parse(text) as Record<string, unknown> };
      }),
  );
/** True if vats open on it. */
const opens = (path: string): Promise<string> =>
  life(path, 400, async ({ vats }) => vats.restoredBecause ?? 'ok').catch((error: Error) => error.message);

/** Three old processes and a recent one, with a cut between them. */
async function cutStore(path: string): Promise<Retained> {
  await live(path, 0, 40);
  await live(path, 1, 40);
  await live(path, 2, 30);
  await live(path, 100, 20);
  return await life(path, 101, ({ retain }) => retain(50));
}

test('old lines up to a checkpoint are dropped, a signed line says which and by whom, and the rest verifies', async () => {
  const at = scratch();
  sent.length = 0;
  await live(at('state'), 0, 1500);
  await live(at('state'), 1, 40);
  const before = await exported(at('state'), at('before.jsonl'));
  await live(at('state'), 100, 20);
  const all = rowsOf(at('state'));
  const done = await life(at('state'), 101, ({ retain }) => retain(50));
  const rows = rowsOf(at('state'));
  const [first, second] = rows;
  expect(first?.text).toBe(all[0]?.text);
  // The last checkpoint of the old lines is left, and nothing before it.
  expect(second?.said).toMatchObject({ seq: done.from, k: 'checkpoint' });
  expect(done.dropped).toBe(done.from - 2);
  expect(done.dropped).toBeGreaterThan(1500);
  expect(rows[2]?.said).toMatchObject({ k: 'restart' });
  const at2 = rows.findIndex(({ said }) => said['k'] === 'cut');
  expect(rows[at2]?.said).toMatchObject({ from: 2, to: done.from - 1, by: 'the operator' });
  expect(rows[at2 + 1]?.said).toMatchObject({ k: 'checkpoint' });
  const dropped = { to: done.from - 1, by: 'the operator', t: start + 101 * day, line: rows[at2]?.seq };
  expect(await look(at('state'), { against: sent })).toMatchObject({ ok: true, lines: rows.at(-1)?.seq, dropped });
  // Exports from before and after verify. Each sent checkpoint holds, also if its lines are gone.
  const after = await exported(at('state'), at('after.jsonl'));
  expect(await verifyLedger({ file: after }, { against: sent })).toMatchObject({ ok: true, dropped });
  expect(await verifyLedger({ file: before }, { against: sent.slice(0, 1) })).toMatchObject({ ok: true });
  for (const anchor of sent) expect(await verifyLedger({ file: after }, { anchor })).toMatchObject({ ok: true });
  // Somebody who kept the dropped lines can put them before the rest.
  writeFileSync(
    at('whole.jsonl'),
    [...all.filter(({ seq }) => seq < done.from), ...rows.slice(1)].map(({ text }) => `${text}\n`).join(''),
  );
  expect(await verifyLedger({ file: at('whole.jsonl') }, { against: sent })).toMatchObject({ ok: true });
  expect(await opens(at('state'))).toBe('ok');
  expect(await look(at('state'), { against: sent })).toMatchObject({ ok: true, dropped });
});

test('lines are dropped again later, of a store that was opened in between, also where what the ledger goes on from is lost', async () => {
  const at = scratch();
  await cutStore(at('state'));
  await live(at('state'), 102, 1100);
  const again = await life(at('state'), 200, ({ retain }) => retain(150));
  expect(again.dropped).toBeGreaterThan(1100);
  expect(await look(at('state'))).toMatchObject({ ok: true, dropped: { to: again.from - 1 } });
  expect(await life(at('state'), 200, ({ retain }) => retain(150))).toMatchObject({ dropped: 0, from: again.from });
  edit(at('state'), (database) => database.exec('UPDATE store SET mark = NULL'));
  await live(at('state'), 201, 200);
  expect(await look(at('state'))).toMatchObject({ ok: true, dropped: { to: again.from - 1 } });
  expect(await life(at('state'), 300, ({ retain }) => retain(250))).toMatchObject({ from: expect.any(Number) });
  expect(await look(at('state'))).toMatchObject({ ok: true });
});

test('who can write the files without the key drops no other line: with no cut, beyond the cut, by a cut made up', async () => {
  const at = scratch();
  await live(at('state'), 0, 30);
  await live(at('state'), 1, 30);
  await live(at('state'), 100, 20);
  cpSync(at('state'), at('uncut'), { recursive: true });
  await life(at('state'), 101, ({ retain }) => retain(0.5));
  expect((await look(at('state'))).ok).toBe(true);
  const { text: cutText, seq: cutSeq } = rowsOf(at('state')).find(({ said }) => said['k'] === 'cut') ?? {
    text: '',
    seq: 0,
  };
  const checkpoints = rowsOf(at('state')).filter(({ said, seq }) => said['k'] === 'checkpoint' && seq < cutSeq);
  const enlarged = (checkpoints[1]?.seq ?? 0) - 1;
  const drop = (database: DatabaseSync, from: number, to: number): void =>
    void database.prepare('DELETE FROM line WHERE seq BETWEEN ? AND ?').run(from, to);
  /**
   * The frontier is no secret: anybody with the lines can compute it. Appends a line, with a right chain and
   * head.
   */
  const append = (database: DatabaseSync, said: Record<string, unknown>): void => {
    const last = database.prepare('SELECT seq, bytes FROM line ORDER BY seq DESC').get();
    const { v, t, vt } = JSON.parse(Buffer.from(last?.['bytes'] as Uint8Array).toString()) as Record<string, unknown>;
    const seq = Number(last?.['seq']) + 1;
    const body = JSON.stringify({ v, seq, t, vt, ...said, prev: sha256(last?.['bytes'] as Uint8Array) }).slice(0, -1);
    const bytes = Buffer.from(`${body},"crc":"${crc(body)}"}`);
    database.prepare('INSERT INTO line VALUES (?, ?)').run(seq, bytes);
    database.prepare('UPDATE store SET seq = ?, hash = ?, mark = NULL').run(seq, sha256(bytes));
  };
  const fieldsOf = (text: string): Record<string, unknown> => {
    const { v, seq, t, vt, prev, crc: _, ...fields } = JSON.parse(text) as Record<string, unknown>;
    return fields;
  };
  // The lines that a host would write to drop up to there, except for the signature.
  cpSync(at('uncut'), at('wider'), { recursive: true });
  await life(at('wider'), 101, ({ retain }) => retain(50));
  const wider = fieldsOf(rowsOf(at('wider')).find(({ said }) => said['k'] === 'cut')?.text ?? '{}');
  const attacks: Readonly<Record<string, readonly [from: string, attack: (database: DatabaseSync) => void]>> = {
    'no cut, a line': ['uncut', (database) => drop(database, 2, 2)],
    'no cut, up to a checkpoint': ['uncut', (database) => drop(database, 2, enlarged)],
    'no cut, in the middle': ['uncut', (database) => drop(database, 10, 15)],
    'beyond the cut, a line': ['state', (database) => drop(database, 2, checkpoints[0]?.seq ?? 0)],
    'beyond the cut, up to the next checkpoint': ['state', (database) => drop(database, 2, enlarged)],
    'beyond the cut, in the middle': ['state', (database) => drop(database, cutSeq - 3, cutSeq - 3)],
    'the cut itself': ['state', (database) => drop(database, cutSeq, cutSeq)],
    'the first line': ['state', (database) => drop(database, 1, 1)],
    'the end and all that tells of the cut': [
      'state',
      (database) => {
        drop(database, cutSeq, Number.MAX_SAFE_INTEGER);
        const last = database.prepare('SELECT seq, bytes FROM line ORDER BY seq DESC').get();
        database
          .prepare('UPDATE store SET seq = ?, hash = ?, mark = NULL')
          .run(Number(last?.['seq']), sha256(last?.['bytes'] as Uint8Array));
      },
    ],
    'the cut line says more': [
      'state',
      (database) => {
        const body = cutText.replace(/"to":\d+/, `"to":${enlarged}`).slice(0, -18);
        const bytes = Buffer.from(`${body},"crc":"${crc(body)}"}`);
        database.prepare('UPDATE line SET bytes = ? WHERE seq = ?').run(bytes, cutSeq);
        drop(database, 2, enlarged);
      },
    ],
    'a cut line made up': [
      'uncut',
      (database) => {
        append(database, wider);
        drop(database, 2, Number(wider['to']));
      },
    ],
    'a second cut line made up': [
      'state',
      (database) => {
        append(database, wider);
        drop(database, 2, Number(wider['to']));
      },
    ],
  };
  for (const [name, [from, attack]] of Object.entries(attacks)) {
    cpSync(at(from), at('try'), { recursive: true });
    edit(at('try'), attack);
    const verdict = await look(at('try'));
    expect(verdict.ok, name).toBe(false);
    expect(verdict.dropped?.to ?? 0, name).not.toBe(wider['to']);
    // The export shows the same, without the state beside it.
    expect((await verifyLedger({ file: await exported(at('try'), at('try.jsonl')) })).ok, name).toBe(false);
    if (!/middle|the cut/.test(name))
      expect(await opens(at('try')), name).toMatch(
        /^the ledger (?:of this store is not|in this store was started with another key)/,
      );
    rmSync(at('try'), { recursive: true });
  }
});

test('a first line that was changed is found, also where nothing next to it is left', async () => {
  const at = scratch();
  await cutStore(at('state'));
  const file = await exported(at('state'), at('ledger.jsonl'));
  const [first = '', ...rest] = readFileSync(file, 'utf8').split('\n');
  const body = first.replace(/"boot":"[^"]*"/, '"boot":"another"').slice(0, -18);
  writeFileSync(file, [`${body},"crc":"${crc(body)}"}`, ...rest].join('\n'));
  expect(await verifyLedger({ file })).toMatchObject({ ok: false, badLine: 1 });
});

test('nothing of a ledger that was changed is dropped: it stays to be found', async () => {
  const at = scratch();
  await live(at('state'), 0, 50);
  await live(at('state'), 1, 50);
  await live(at('state'), 2, 50);
  const rows = rowsOf(at('state'));
  const [, , , fourth] = rows;
  // With a right check sum. The lines of the second process are whole.
  const body = fourth?.text.replace(/"n":\d+/, '"n":77').slice(0, -18) ?? '';
  edit(at('state'), (database) =>
    database.prepare('UPDATE line SET bytes = ? WHERE seq = 4').run(Buffer.from(`${body},"crc":"${crc(body)}"}`)),
  );
  await expect(life(at('state'), 100, ({ retain }) => retain(50))).rejects.toMatchObject({
    code: 'invalid',
    message: expect.stringMatching(/^no line after line 1 was dropped, because the ledger was changed/),
  });
  expect(rowsOf(at('state')).length).toBeGreaterThan(rows.length);
  expect(await look(at('state'))).toMatchObject({ ok: false, badLine: 4 });
});

test('what was dropped is in no file of the store, lines and arguments', async () => {
  const at = scratch();
  await life(at('state'), 0, async ({ vats }) => {
    await vats.vat('v').turn(() => ledgerLine('call', { method: 'needleInLine' }));
  });
  await live(at('state'), 1, 3);
  await live(at('state'), 100, 3);
  edit(at('state'), (database) =>
    database.prepare("INSERT INTO args VALUES (2, x'00', ?)").run(Buffer.from('needleInArguments')),
  );
  const found = (needle: string): boolean =>
    readdirSync(at('state')).some((name) => readFileSync(join(at('state'), name)).includes(needle));
  expect(found('needleInLine') && found('needleInArguments')).toBe(true);
  await life(at('state'), 101, async ({ retain }) => {
    await retain(50);
    expect(found('needleInLine')).toBe(false);
    expect(found('needleInArguments')).toBe(false);
  });
});

test('one that verifies meanwhile finds nothing missing, one that exports is told to do it again, and two do not drop at once', async () => {
  const at = scratch();
  await live(at('state'), 0, 6000);
  await life(at('state'), 100, async ({ store, retain, lines }) => {
    const exporting = (async () => {
      for await (const _ of exportLedger(store)) await new Promise(setImmediate);
    })();
    const verifying = verifyLedger(store);
    const retaining = retain(50);
    await expect(retain(50)).rejects.toMatchObject({ code: 'unavailable' });
    await lines(300);
    expect(await retaining).toMatchObject({ dropped: expect.any(Number) });
    expect(await verifying).toMatchObject({ ok: true });
    await expect(exporting).rejects.toMatchObject({ code: 'unavailable' });
    expect(await verifyLedger(store)).toMatchObject({ ok: true, dropped: { by: 'the operator' } });
  });
});

test('what cannot be is refused: no name, no date, no vats; and where nothing is old nothing is dropped', async () => {
  const at = scratch();
  const store = await openStore({ path: at('state') });
  onTestFinished(() => store.close());
  await expect(retainLedger(store, { before: start, by: 'x' })).rejects.toMatchObject({ code: 'unavailable' });
  const vats = await openVats({ store, clock: testClock({ wall: start }), definitions: [] });
  await vats.vat('v').turn(() => ledgerLine('call', {}));
  for (const wrong of [
    { before: start, by: '' },
    { before: start, by: 'x'.repeat(101) },
    { before: Number.NaN, by: 'x' },
  ])
    await expect(retainLedger(store, wrong)).rejects.toMatchObject({ code: 'invalid' });
  expect(await retainLedger(store, { before: start, by: 'x' })).toMatchObject({ dropped: 0 });
  expect(await retainLedger(store, { before: start + day, by: 'x' })).toMatchObject({ dropped: 0 });
  await vats.close();
});

test('any lives, cuts and losses of the mark leave a ledger that verifies, in a store on disk and in memory', async () => {
  const step = fc.oneof(
    fc.record({ is: fc.constant('lines' as const), count: fc.integer({ min: 1, max: 1100 }) }),
    fc.record({ is: fc.constant('retain' as const), ago: fc.integer({ min: 0, max: 3 }) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), fc.boolean(), async (steps, inMemory) => {
      const folder = mkdtempSync(join(tmpdir(), 'hob-retain-'));
      const path = join(folder, 'state');
      const memory = inMemory ? await openStore({ memory: true }) : undefined;
      try {
        let days = 0;
        for (const each of steps) {
          days += 1;
          await life(
            path,
            days,
            async ({ store, lines, retain }) => {
              if (each.is === 'lines') await lines(each.count);
              else {
                const { from } = await retain(days - each.ago);
                const left: number[] = [];
                for await (const line of exportLedger(store)) left.push((JSON.parse(line) as { seq: number }).seq);
                expect(left).toEqual([1, ...Array.from({ length: left.length - 1 }, (_, n) => from + n)]);
              }
              expect(await verifyLedger(store)).toMatchObject({ ok: true });
            },
            memory,
          );
        }
      } finally {
        await memory?.close();
        rmSync(folder, { recursive: true, force: true });
      }
    }),
    { numRuns: 8 },
  );
}, 120_000);
