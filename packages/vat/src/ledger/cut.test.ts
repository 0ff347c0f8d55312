/**
 * An attacker who can write the store's file, but has not its key, tries to make the ledger shorter or older,
 * or to put in another one.
 */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { sha256 } from '../drivers/hash.ts';
import { openStore } from '../store/store.ts';
import { ledgerLine } from '../turn/turn.ts';
import type { Vats } from '../vats/interface.ts';
import { openVats } from '../vats/vats.ts';
import { type LedgerVerdict, verifyLedger } from './verify.ts';

function scratch() {
  const above = mkdtempSync(join(tmpdir(), 'hob-cut-'));
  onTestFinished(() => rmSync(above, { recursive: true, force: true }));
  return (name: string): string => join(above, name);
}

/** Runs one process that appends this many lines. */
async function life(path: string, lines: number, sentinel?: string): Promise<void> {
  const store = await openStore({ path, sentinel });
  let vats: Vats | undefined;
  try {
    vats = await openVats({ store, definitions: [] });
    for (let n = 0; n < lines; n += 1) await vats.vat('v').turn(() => ledgerLine('call', { n }));
  } finally {
    await vats?.close();
    await store.close();
  }
}

/** Returns the verdict without vats, and the result of opening vats. */
async function look(path: string, sentinel?: string): Promise<{ verdict: LedgerVerdict; opens: string }> {
  const store = await openStore({ path, sentinel });
  try {
    const verdict = await verifyLedger(store);
    const opens = await openVats({ store, definitions: [] }).then(
      async (vats) => {
        const said = vats.restoredBecause ?? 'ok';
        await vats.close();
        return said;
      },
      (error: Error) => error.message,
    );
    return { verdict, opens };
  } finally {
    await store.close();
  }
}

function edit<R>(path: string, act: (database: DatabaseSync) => R): R {
  const database = new DatabaseSync(join(path, 'store.db'));
  try {
    return act(database);
  } finally {
    database.close();
  }
}

/** Cuts the lines after `to` and corrects the head. */
function cut(path: string, to: number): void {
  edit(path, (database) => {
    const row = database.prepare('SELECT bytes FROM line WHERE seq = ?').get(to);
    const hash = to === 0 ? '' : sha256(row?.['bytes'] as Uint8Array);
    database.prepare('DELETE FROM line WHERE seq > ?').run(to);
    database.prepare('DELETE FROM args WHERE seq > ?').run(to);
    database.prepare('UPDATE store SET seq = ?, hash = ?, mark = NULL').run(to, hash);
  });
}

/** Copies tables of the store in `from` into the one in `path`. */
function replaceTables(path: string, from: string, tables: readonly string[]): void {
  edit(path, (database) => {
    database.exec(`ATTACH '${join(from, 'store.db')}' AS old`);
    for (const table of tables)
      database.exec(`DELETE FROM main.${table}; INSERT INTO main.${table} SELECT * FROM old.${table}`);
    database.exec('DETACH old');
  });
}

const lastOf = (path: string): number =>
  edit(path, (database) => Number(database.prepare('SELECT max(seq) AS last FROM line').get()?.['last']));
const checkpoints = (path: string): readonly number[] =>
  edit(path, (database) =>
    database
      .prepare('SELECT seq, bytes FROM line ORDER BY seq')
      .all()
      .filter(({ bytes }) => Buffer.from(bytes as Uint8Array).includes('"k":"checkpoint"'))
      .map(({ seq }) => Number(seq)),
  );
const ledgerTables = ['line', 'args', 'store'];

test('a ledger whose end was cut and whose head was put right does not verify, and no vats open on it', async () => {
  const at = scratch();
  await life(at('state'), 3);
  await life(at('state'), 4);
  const last = lastOf(at('state'));
  const [first = 0] = checkpoints(at('state'));
  // One line, some, to a checkpoint, all but the first, and all.
  for (const to of [last - 1, last - 3, first, 1, 0]) {
    cpSync(at('state'), at('cut'), { recursive: true });
    cut(at('cut'), to);
    // Verified twice, because the first time must not repair it.
    for (const _ of [1, 2]) {
      const { verdict, opens } = await look(at('cut'));
      expect(verdict).toMatchObject({ ok: false, badLine: to + 1, why: expect.stringMatching(/^it is missing: /) });
      expect(opens).toMatch(/^the ledger of this store is not as it was written, at line \d+: it is missing: .*backup/);
    }
    rmSync(at('cut'), { recursive: true });
  }
  expect((await look(at('state'))).opens).toBe('ok');
});

test('a ledger that was put back alone, while the state is current, does not verify, and no vats open on it', async () => {
  const at = scratch();
  await life(at('state'), 2);
  cpSync(at('state'), at('old'), { recursive: true });
  await life(at('state'), 2);
  const older = lastOf(at('old'));
  // With the tables of the ledger alone; and all but those of the state.
  for (const tables of [ledgerTables, [...ledgerTables, 'history']]) {
    cpSync(at('state'), at('back'), { recursive: true });
    replaceTables(at('back'), at('old'), tables);
    const { verdict, opens } = await look(at('back'));
    expect(verdict).toMatchObject({ ok: false, badLine: older + 1, why: expect.stringMatching(/^it is missing: /) });
    expect(opens).toMatch(/^the ledger of this store is not as it was written/);
    rmSync(at('back'), { recursive: true });
  }
});

test('what the state says of the last line cannot be made up, taken away, or taken from an older copy', async () => {
  const at = scratch();
  await life(at('state'), 2, at('sentinels'));
  cpSync(at('state'), at('old'), { recursive: true });
  await life(at('state'), 2, at('sentinels'));
  const last = lastOf(at('old'));
  const boundOf = (path: string): string =>
    edit(path, (database) =>
      String(database.prepare("SELECT value FROM cell WHERE key = x'626f756e64'").get()?.['value']),
    );
  const old = boundOf(at('old'));
  const now = JSON.parse(boundOf(at('state'))) as { seq: number; hash: string };
  const attacks: Readonly<Record<string, (database: DatabaseSync) => void>> = {
    'made up': (database) => {
      const row = database.prepare('SELECT hash FROM store').get();
      const text = JSON.stringify({ ...now, seq: last, hash: row?.['hash'] });
      database.prepare("UPDATE cell SET value = ? WHERE key = x'626f756e64'").run(text);
    },
    'of an older copy': (database) =>
      void database.prepare("UPDATE cell SET value = ? WHERE key = x'626f756e64'").run(old),
    'taken away': (database) => void database.exec("DELETE FROM cell WHERE key = x'626f756e64'"),
    'as if it was never there': (database) =>
      void database.exec("DELETE FROM cell WHERE key = x'626f756e64'; UPDATE history SET bound = 0"),
    junk: (database) => void database.exec("UPDATE cell SET value = '7' WHERE key = x'626f756e64'"),
  };
  for (const [name, attack] of Object.entries(attacks)) {
    cpSync(at('state'), at('cut'), { recursive: true });
    rmSync(at('kept'), { recursive: true, force: true });
    cpSync(at('sentinels'), at('kept'), { recursive: true });
    cut(at('cut'), last);
    edit(at('cut'), attack);
    const { verdict, opens } = await look(at('cut'), at('kept'));
    expect(verdict.ok, name).toBe(false);
    expect(opens, name).toMatch(/^the ledger of this store is not as it was written/);
    rmSync(at('cut'), { recursive: true });
  }
});

test('the ledger of another host is not this one’s, also with its key', async () => {
  const at = scratch();
  await life(at('a'), 2);
  await life(at('b'), 2);
  replaceTables(at('a'), at('b'), ledgerTables);
  expect((await look(at('a'))).verdict).toMatchObject({ ok: false, badLine: 1 });
  writeFileSync(join(at('a'), 'ledger.key'), readFileSync(join(at('b'), 'ledger.key')));
  const { verdict, opens } = await look(at('a'));
  expect(verdict.ok).toBe(false);
  expect(opens).toMatch(/^the ledger of this store is not as it was written/);
});

test('the whole store put back is known by its sentinel, and so is a ledger that was cut with the key', async () => {
  const at = scratch();
  await life(at('state'), 2, at('sentinels'));
  cpSync(at('state'), at('old'), { recursive: true });
  await life(at('state'), 2, at('sentinels'));
  cpSync(at('state'), at('now'), { recursive: true });
  rmSync(at('state'), { recursive: true });
  cpSync(at('old'), at('state'), { recursive: true });
  expect((await look(at('state'), at('sentinels'))).opens).toMatch(/^this state was put back: its last \d+ commits/);
  // The old store goes on, past the commits of the other, as an attacker with the key can write it.
  mkdirSync(at('kept'));
  await life(at('now'), 0, at('kept'));
  await life(at('state'), 40);
  const { verdict, opens } = await look(at('state'), at('kept'));
  expect(verdict).toMatchObject({ ok: false, why: expect.stringContaining('the sentinel of this store saw') });
  expect(opens).toMatch(/^the ledger of this state is not the one that its sentinel saw/);
  // The ledger records it, and the state goes on.
  expect((await look(at('state'), at('kept'))).verdict.ok).toBe(true);
});

test('the ledger of a store that goes on for ever is never in doubt: kills, reopenings, empty lives, a restored sentinel folder', async () => {
  const at = scratch();
  for (const lines of [0, 1, 0, 5, 0]) await life(at('state'), lines, at('sentinels'));
  expect(await look(at('state'), at('sentinels'))).toMatchObject({ verdict: { ok: true }, opens: 'ok' });
  const empty = await openStore({ path: at('empty') });
  await empty.close();
  await life(at('empty'), 1);
  expect(await look(at('empty'))).toMatchObject({ verdict: { ok: true }, opens: 'ok' });
});
