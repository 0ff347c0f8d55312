/**
 * Checkpoints against attackers who rewrite history: without the key, with it, and with an anchor kept
 * elsewhere.
 */
import { createPublicKey, verify } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { memorySigner, type Signer } from '../drivers/keys.ts';
import { systemRandom } from '../drivers/random.ts';
import type { StoreEngine } from '../store/engine.ts';
import { makeEngine } from '../store/engine.ts';
import { memoryRows } from '../store/memory.ts';
import { engineOf, openStore, type Store } from '../store/store.ts';
import { type TestClock, testClock } from '../testing/test-clock.ts';
import { type Ledger, makeLedger } from './chain.ts';
import { exportLedger } from './export.ts';
import type { KnownLedgerEntry, LineKind } from './kinds.ts';
import { makeLine } from './line.ts';
import { keyText, noteReader, parseKey, signNote } from './note.ts';
import { Tree } from './tree.ts';
import { type LedgerVerdict, type VerifyOptions, verifyLedger } from './verify.ts';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const call = (n: number): KnownLedgerEntry => ({ kind: 'call', fields: { grant: 'g1', method: 'readText', use: n } });
const calls = (count: number): KnownLedgerEntry[] => Array.from({ length: count }, (_, i) => call(i));

function scratch(): string {
  const folder = join(mkdtempSync(join(tmpdir(), 'hob-checkpoint-')), 'state');
  mkdirSync(folder);
  onTestFinished(() => rmSync(dirname(folder), { recursive: true, force: true }));
  return folder;
}

async function open(
  path?: string,
): Promise<{ store: Store; engine: StoreEngine; ledger: Ledger; clock: TestClock; lines: () => Promise<Said[]> }> {
  const store = await openStore(path === undefined ? { memory: true } : { path });
  onTestFinished(() => store.close());
  const engine = engineOf(store);
  const clock = testClock();
  return {
    store,
    engine,
    clock,
    ledger: makeLedger(engine, { clock, random: systemRandom }),
    lines: async () => (await textsOf(store)).map((line) => JSON.parse(line)),
  };
}

interface Said {
  readonly [field: string]: unknown;
}

async function textsOf(store: Store): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of exportLedger(store)) lines.push(line);
  return lines;
}

function verifyLines(lines: readonly string[], options?: VerifyOptions): Promise<LedgerVerdict> {
  const file = join(scratch(), 'export.jsonl');
  writeFileSync(file, lines.map((line) => `${line}\n`).join(''));
  return verifyLedger({ file }, options);
}

/**
 * History as an attacker without the key writes it: `change` each line, then correct seq, chain and check
 * sums.
 */
function rewrite(lines: readonly string[], change: (said: Said, line: number) => Said | undefined): string[] {
  const out: string[] = [];
  let prev = '';
  lines.forEach((text, index) => {
    const changed = change(JSON.parse(text), index + 1);
    if (changed === undefined) return;
    const { v: _v, seq: _seq, t, vt, k, prev: _prev, crc: _crc, ...fields } = changed;
    const parts = { seq: out.length + 1, t: Number(t), vt: Number(vt), kind: k as LineKind, fields, prev };
    const line = makeLine(parts);
    prev = line.hash;
    out.push(Buffer.from(line.bytes).toString());
  });
  return out;
}

describe('the tree', () => {
  // From the tests of Certificate Transparency.
  const inputs = ['', '00', '10', '2021', '3031', '40414243', '5051525354555657', '606162636465666768696a6b6c6d6e6f'];
  const roots = [
    '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
    'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
    'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
    'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
    '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
    '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
    'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
    '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
  ];
  const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

  test('has the roots of RFC 6962', () => {
    const tree = Tree.empty();
    expect(hex(tree.root())).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
    inputs.forEach((input, i) => {
      tree.add(Buffer.from(input, 'hex'));
      expect(hex(tree.root())).toBe(roots[i]);
    });
  });

  test('goes on after a rest as if there had been none, and a copy is one', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 70 }), fc.nat(70), (leaves, at) => {
        const whole = Tree.empty();
        let parts = Tree.empty();
        leaves.forEach((leaf, i) => {
          whole.add(leaf);
          if (i === at) parts = Tree.unpack(parts.size, parts.pack())!;
          const before = parts.copy();
          parts.add(leaf);
          expect(before.size).toBe(i);
          before.add(utf8('something else'));
        });
        expect(hex(parts.root())).toBe(hex(whole.root()));
        expect(parts.pack().length).toBeLessThanOrEqual(32 * 64);
      }),
    );
    expect(Tree.unpack(3, new Uint8Array(32))).toBeUndefined();
  });
});

describe('a note', () => {
  const signer = memorySigner();
  const key = { name: 'hob-ledger/00', publicKey: signer.publicKey };
  const tree = Tree.empty();
  tree.add(utf8('line'));
  const note = signNote(signer, key.name, tree);

  test('is what C2SP says, and ed25519 by hand agrees', () => {
    const [text = '', signature = ''] = note.split('\n\n');
    expect(text).toMatch(/^hob-ledger\/00\n1\n[A-Za-z0-9+/]{43}=$/);
    expect(signature).toMatch(/^— hob-ledger\/00 [A-Za-z0-9+/]{91}=\n$/);
    const jwk = { kty: 'OKP', crv: 'Ed25519', x: Buffer.from(signer.publicKey).toString('base64url') };
    const bytes = Buffer.from(signature.split(' ')[2] ?? '', 'base64');
    expect(bytes.subarray(0, 4).toString('hex')).toBe(keyText(key).split('+')[1]);
    const publicKey = createPublicKey({ key: jwk, format: 'jwk' });
    expect(verify(null, Buffer.from(`${text}\n`), publicKey, bytes.subarray(4))).toBe(true);
  });

  test('the key is read back, and no other text is one', () => {
    expect(parseKey(keyText(key))).toEqual(key);
    const wrong = [undefined, 7, '', 'x', keyText(key).slice(1), `${keyText(key)} `, keyText(key).replace('+', ' ')];
    for (const text of wrong) expect(parseKey(text)).toBeUndefined();
  });

  test('no byte of it can be another, and a witness may stand beside', () => {
    const read = noteReader(key);
    expect(read(note)).toMatchObject({ origin: key.name, size: 1 });
    const witness = signNote(memorySigner(), 'witness.example/w', tree).split('\n\n')[1] ?? '';
    expect(read(note + witness)).toMatchObject({ size: 1 });
    expect(read(`${note.split('\n\n')[0]}\n\n${witness}`)).toBeUndefined();
    for (let at = 0; at < note.length; at += 1) {
      const other = note[at] === 'A' ? 'B' : 'A';
      expect(read(note.slice(0, at) + other + note.slice(at + 1)), `at ${at}`).toBeUndefined();
    }
    // Bits that base64 does not use do not give another spelling of the same signature.
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
    const last = note.length - 3;
    for (const other of alphabet)
      if (other !== note[last]) expect(read(note.slice(0, last) + other + note.slice(last + 1)), other).toBeUndefined();
    const more = ['', '\n', note.slice(1), `\n${note}`, note.slice(0, -1), note + note, 'x'.repeat(9999), undefined, 3];
    for (const text of more) expect(read(text)).toBeUndefined();
    expect(noteReader({ ...key, publicKey: memorySigner().publicKey })(note)).toBeUndefined();
  });
});

describe('a checkpoint is written', () => {
  const where = (lines: readonly Said[]): unknown[] => lines.flatMap(({ k, seq }) => (k === 'checkpoint' ? [seq] : []));

  test('after every 1,000 lines, also in the middle of one write and across a restart', async () => {
    const path = scratch();
    const first = await open(path);
    first.ledger.write(calls(2500));
    first.ledger.write(calls(400));
    expect(where(await first.lines())).toEqual([1001, 2002]);
    await first.store.close();
    const second = await open(path);
    for (let i = 0; i < 20; i += 1) second.ledger.write(calls(77));
    const all = where(await second.lines());
    expect(all.slice(2)).toEqual([2904, 3905]); // at the close, and 1,000 lines further: the restart is one of them
    expect(await verifyLedger(second.store)).toMatchObject({ ok: true, checkpoints: 4, signed: 3904 });
  });

  test('a minute after a line that nothing follows, and not while nothing happens', async () => {
    const { ledger, clock, lines } = await open();
    clock.advance(59_000);
    expect(where(await lines())).toEqual([]);
    clock.advance(1000);
    expect(where(await lines())).toEqual([2]);
    clock.advance(3_600_000);
    ledger.write([call(1)]);
    clock.advance(30_000);
    ledger.write([call(2)]);
    expect(where(await lines())).toEqual([2]);
    clock.advance(30_000);
    expect(where(await lines())).toEqual([2, 5]);
    clock.advance(3_600_000);
    expect(where(await lines())).toEqual([2, 5]);
  });

  test('at the close, once, and no timer is left', async () => {
    const path = scratch();
    const { ledger, store, clock } = await open(path);
    ledger.write(calls(3));
    await store.close();
    expect(clock.pending()).toBe(0);
    const again = await openStore({ path });
    onTestFinished(() => again.close());
    expect(await verifyLedger(again)).toMatchObject({ ok: true, lines: 5, checkpoints: 1, signed: 4 });
  });

  test('closing the ledger alone does the same, and a store that takes no more lines is no reason to fail', async () => {
    const { ledger, clock, lines } = await open();
    ledger.close();
    ledger.close();
    expect(clock.pending()).toBe(0);
    expect(where(await lines())).toEqual([2]);
    const engine = makeEngine(memoryRows({ maxLines: 2 }));
    const full = makeLedger(engine, { clock, random: systemRandom });
    expect(() => full.write(calls(5))).toThrow();
    clock.advance(60_000);
    full.close();
    engine.close();
    expect(clock.pending()).toBe(0);
  });

  test('nobody but the ledger writes one', async () => {
    const { ledger, engine } = await open();
    for (const kind of ['genesis', 'restart', 'checkpoint', 'cut', 'redact']) {
      const entry = { kind, fields: {} } as unknown as KnownLedgerEntry;
      expect(() => ledger.write([entry])).toThrow(expect.objectContaining({ code: 'invalid' }));
    }
    expect(engine.head().seq).toBe(1);
  });

  test('where a caller committed only a part of what was prepared, the next lines follow that part', async () => {
    const { ledger, engine, store } = await open();
    const lines = ledger.prepare(calls(1500));
    engine.commit(engine.epoch, { lines: lines.slice(0, 1200) });
    ledger.write(calls(1500));
    expect(await verifyLedger(store)).toMatchObject({ ok: true, checkpoints: 2 });
  });
});

describe('history written anew, with a chain that is right', () => {
  async function history(): Promise<string[]> {
    const { ledger, store } = await open();
    ledger.write(calls(2400));
    return textsOf(store);
  }
  const forge =
    (line: number) =>
    (said: Said, n: number): Said =>
      n === line ? { ...said, method: 'nothing' } : said;

  test('without the key is found at the first checkpoint after the change', async () => {
    const lines = await history();
    expect(await verifyLines(lines)).toMatchObject({ ok: true, lines: 2403, checkpoints: 2, signed: 2001 });
    expect(await verifyLines(rewrite(lines, forge(500)))).toMatchObject({ ok: false, badLine: 1001, checkpoints: 0 });
    expect(await verifyLines(rewrite(lines, forge(1500)))).toMatchObject({ ok: false, badLine: 2002, signed: 1000 });
    const gone = rewrite(lines, (said, n) => (n === 1500 ? undefined : said));
    expect(await verifyLines(gone)).toMatchObject({ ok: false, badLine: 2001, why: /other lines/ });
  });

  test('checkpoints left out, or made with another key, are missed', async () => {
    const lines = await history();
    const none = rewrite(lines, (said, n) => (said['k'] === 'checkpoint' ? undefined : forge(500)(said, n)));
    expect(await verifyLines(none)).toMatchObject({ ok: false, badLine: 1001, why: /missing/ });

    const own = memorySigner();
    const resigned = resign(rewrite(lines, forge(500)), own);
    expect(await verifyLines(resigned)).toMatchObject({ ok: false, badLine: 1001, why: /not signed/ });
  });

  test('with a key of his own in the genesis it is another ledger: the key known from elsewhere tells', async () => {
    const lines = await history();
    const key = JSON.parse(lines[0]!).key;
    const own = memorySigner();
    const { name } = parseKey(key)!;
    const theirs = keyText({ name, publicKey: own.publicKey });
    const forged = resign(
      rewrite(lines, (said, n) => (n === 1 ? { ...said, key: theirs } : forge(500)(said, n))),
      own,
    );
    // By itself it verifies.
    expect(await verifyLines(forged)).toMatchObject({ ok: true, checkpoints: 2 });
    expect(await verifyLines(forged, { key })).toMatchObject({ ok: false, badLine: 1 });
    expect(await verifyLines(lines, { key })).toMatchObject({ ok: true });
    expect(await verifyLines(rewrite(lines, (said, n) => (n === 1 ? { ...said, key: 'x' } : said)))).toMatchObject({
      ok: false,
      badLine: 1,
    });
    const { checkpoint: anchor } = await verifyLines(lines);
    expect(await verifyLines(forged, { anchor: anchor! })).toMatchObject({ ok: false, badLine: 1 });
  });

  test('after the last checkpoint it is not found: that is what can be known of an end', async () => {
    const lines = await history();
    expect(await verifyLines(rewrite(lines, forge(2300)))).toMatchObject({ ok: true, lines: 2403, signed: 2001 });
    const cut = lines.slice(0, 2300);
    expect(await verifyLines(cut)).toMatchObject({ ok: true, lines: 2300, checkpoints: 2, signed: 2001 });
  });

  test('with the key only an anchor tells, and it tells the same of an earlier state put back', async () => {
    const path = scratch();
    const { ledger, store } = await open(path);
    ledger.write(calls(2400));
    const { checkpoint: anchor = '' } = await verifyLedger(store);
    const lines = await textsOf(store);
    expect(anchor.split('\n')[1]).toBe('2001');
    expect(await verifyLedger(store, { anchor })).toMatchObject({ ok: true });
    const forged = resign(rewrite(lines, forge(500)), engineOf(store).signer);
    expect(await verifyLines(forged)).toMatchObject({ ok: true, checkpoints: 2, signed: 2001 });
    expect(await verifyLines(forged, { anchor })).toMatchObject({ ok: false, badLine: 2001, why: /anchor/ });
    expect(await verifyLines(lines.slice(0, 1900), { anchor })).toMatchObject({
      ok: false,
      badLine: 1901,
      why: /earlier/,
    });
    // An anchor stays good while the ledger grows.
    ledger.write(calls(1000));
    expect(await verifyLedger(store, { anchor })).toMatchObject({ ok: true, signed: 3002 });
    const other = await open();
    other.ledger.write(calls(2400));
    expect(await verifyLedger(other.store, { anchor })).toMatchObject({ ok: false, badLine: 1, why: /anchor/ });
    const changed = anchor.replace('\n2001\n', '\n2000\n');
    expect(await verifyLedger(store, { anchor: changed })).toMatchObject({ ok: false, badLine: 1 });
    for (const text of ['', 'nonsense', anchor.split('\n\n')[0]!, 7 as unknown as string]) {
      await expect(verifyLedger(store, { anchor: text })).rejects.toMatchObject({ code: 'invalid' });
    }
  });

  /** The same lines with checkpoints that `signer` made. */
  function resign(lines: readonly string[], signer: Signer): string[] {
    const name = parseKey(JSON.parse(lines[0]!).key)?.name ?? '';
    const tree = Tree.empty();
    const out: string[] = [];
    let prev = '';
    for (const text of lines) {
      const { v: _v, seq, t, vt, k, prev: _prev, crc: _crc, ...fields } = JSON.parse(text);
      if (k === 'checkpoint') fields.note = signNote(signer, name, tree);
      const line = makeLine({ seq, t, vt, kind: k, fields, prev });
      tree.add(line.bytes);
      prev = line.hash;
      out.push(Buffer.from(line.bytes).toString());
    }
    return out;
  }
});

describe('the key of a store', () => {
  test('stays: a ledger goes on only with the key that it was begun with', async () => {
    const path = scratch();
    const first = await open(path);
    first.ledger.write(calls(3));
    await first.store.close();
    const kept = readFileSync(join(path, 'ledger.key'));
    rmSync(join(path, 'ledger.key'));
    const other = await openStore({ path });
    expect(() => makeLedger(engineOf(other), { clock: testClock(), random: systemRandom })).toThrow(
      expect.objectContaining({ code: 'invalid', message: expect.stringMatching(/another key/) }),
    );
    expect(await verifyLedger(other)).toMatchObject({ ok: false, badLine: 1, why: /another key/ });
    await other.close();
    writeFileSync(join(path, 'ledger.key'), kept);
    const { store } = await open(path);
    expect(await verifyLedger(store)).toMatchObject({ ok: true });
  });

  test('a tree kept beside the head that was changed makes a checkpoint that does not verify, not a wrong one that does', async () => {
    const path = scratch();
    const first = await open(path);
    first.ledger.write(calls(3));
    await first.store.close();
    const database = new DatabaseSync(join(path, 'store.db'));
    const mark = Buffer.from(database.prepare('SELECT mark FROM store').get()!['mark'] as Uint8Array);
    mark[20] = mark[20]! ^ 1;
    database.prepare('UPDATE store SET mark = ?').run(mark);
    database.close();
    const second = await open(path);
    second.ledger.close();
    expect(await verifyLedger(second.store)).toMatchObject({ ok: false, badLine: 7, why: /other lines/ });
  });
});
