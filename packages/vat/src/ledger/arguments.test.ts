/** Which parts of arguments are stored, which are not, and that deleted arguments are gone. */
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { spawn } from '../actor/actor.ts';
import { table } from '../actor/table.ts';
import type { Definition } from '../core/types.ts';
import { systemRandom } from '../drivers/random.ts';
import { promise } from '../eventual/resolver.ts';
import { engineOf, openStore, type Store } from '../store/store.ts';
import { testClock } from '../testing/test-clock.ts';
import { driver } from '../turn/driver.ts';
import { define } from '../turn/portrait.ts';
import { ledgerLine } from '../turn/turn.ts';
import type { Vats } from '../vats/interface.ts';
import { newSecret } from '../vats/sturdyrefs.ts';
import { openVats } from '../vats/vats.ts';
import { encodeArgs, MAX_ARGS_BYTES } from './arguments.ts';
import { ledgerOf } from './chain.ts';
import { exportLedger } from './export.ts';
import { ledgerArguments, redactLedger } from './redact.ts';
import { verifyLedger } from './verify.ts';

const text = (args: readonly unknown[]): string => new TextDecoder().decode(encodeArgs(args).bytes);

function scratch(): string {
  const folder = join(mkdtempSync(join(tmpdir(), 'hob-args-')), 'state');
  mkdirSync(folder);
  onTestFinished(() => rmSync(dirname(folder), { recursive: true, force: true }));
  return folder;
}

async function open(path?: string): Promise<{ store: Store; vats: Vats }> {
  const store = await openStore(path === undefined ? { memory: true } : { path });
  const vats = await openVats({ store, clock: testClock(), random: systemRandom });
  onTestFinished(async () => {
    await vats.close();
    await store.close();
  });
  return { store, vats };
}

interface Secretive {
  tell(): string;
}
const Secretive: Definition<Secretive, []> = define('Secretive', (_bcom) => ({ tell: () => 'a secret' }));

async function linesOf(store: Store): Promise<Record<string, unknown>[]> {
  const lines = [];
  for await (const line of exportLedger(store)) lines.push(JSON.parse(line));
  return lines;
}

describe('the text', () => {
  test('is JSON, with a placeholder for what JSON lacks', () => {
    expect(text([])).toBe('[]');
    expect(text(['a', 1.5, true, null, { x: [1, 'é"\n'] }])).toBe('["a",1.5,true,null,{"x":[1,"é\\"\\n"]}]');
    expect(JSON.parse(text([undefined, 12n, Number.NaN, -Infinity, new Uint8Array(7), Symbol.for('s')]))).toEqual([
      { $undefined: true },
      { $bigint: '12' },
      { $number: 'NaN' },
      { $number: '-Infinity' },
      { $bytes: 7 },
      { $symbol: 's' },
    ]);
    const error = Object.assign(new Error('in a file of mine'), { code: 'NOT_FOUND' });
    expect(JSON.parse(text([error, Promise.resolve(), new TypeError('/etc')]))).toEqual([
      { $error: 'NOT_FOUND' },
      { $promise: true },
      { $error: 'error' },
    ]);
  });

  test('says of a reference only the label of its kind', async () => {
    const { vats } = await open();
    const disk = driver<{ read(): string }>({ read: () => 'x' }, { name: 'disk' });
    const said = await vats.vat('v').turn(() => {
      const refs = [spawn(Secretive()), disk, table(), promise().promise];
      return text([...refs, { deep: [refs[0]] }]);
    });
    expect(JSON.parse(said)).toEqual([
      { $ref: 'Secretive' },
      { $ref: 'driver:disk' },
      { $ref: 'table' },
      { $promise: true },
      { deep: [{ $ref: 'Secretive' }] },
    ]);
  });

  test('nothing passed looks like a placeholder', () => {
    expect(text([{ $ref: 'Directory', $$: 1 }])).toBe('[{"$$ref":"Directory","$$$":1}]');
  });

  test('has no secret of ours, wherever it stands, also across the cut', () => {
    const secret = newSecret(systemRandom);
    for (const args of [[secret], [{ [secret]: [`x ${secret}`] }], ['y'.repeat(MAX_ARGS_BYTES - 20) + secret]])
      expect(text(args)).not.toMatch(/hob1_[a-z2-7]/);
  });

  test('of whatever is passed it reads nothing that could act', () => {
    let read = 0;
    const spy = (): never => {
      read += 1;
      throw new Error('read');
    };
    const proxy = new Proxy({}, { get: spy, ownKeys: spy, getPrototypeOf: spy, getOwnPropertyDescriptor: spy });
    const args = [
      proxy,
      Object.defineProperty({}, 'x', { get: spy, enumerable: true }),
      { toJSON: spy },
      new (class Own {
        get x(): never {
          return spy();
        }
      })(),
      spy,
    ];
    const opaque = { $opaque: true };
    expect(JSON.parse(text(args))).toEqual([opaque, { x: opaque }, { toJSON: opaque }, opaque, opaque]);
    expect(read).toBe(0);
  });

  test('is at most 64 KiB and says where it was cut, at little cost however much there is', () => {
    const exact = 'a'.repeat(MAX_ARGS_BYTES - 4);
    expect(encodeArgs([exact])).toMatchObject({ cut: false });
    expect(encodeArgs([exact]).bytes.length).toBe(MAX_ARGS_BYTES);
    const loop: unknown[] = [];
    loop.push(loop, loop);
    const cases = [
      [`${exact}b`],
      ['€'.repeat(30_000)],
      ['😀'.repeat(20_000)],
      ['\0'.repeat(64_000)],
      Array.from({ length: 1_000_000 }, (_, i) => i),
      [Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`key ${i}`, i]))],
      ['x'.repeat(100_000_000)],
      loop,
    ];
    for (const args of cases) {
      const said = encodeArgs(args);
      expect(said.cut).toBe(true);
      expect(said.argc).toBe(args.length);
      expect(said.bytes.length).toBeLessThanOrEqual(MAX_ARGS_BYTES);
      // No character was cut.
      expect(new TextDecoder('utf-8', { fatal: true }).decode(said.bytes).endsWith('…')).toBe(true);
    }
    expect(encodeArgs([10n ** 100_000n]).bytes.length).toBeLessThan(100);
  });

  test('says the same again of any JSON', () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue({ noUnicodeString: false }), { maxLength: 4 }), (args) => {
        const said = text(args);
        if (!/hob1_|\$/.test(said)) expect(said).toBe(JSON.stringify(args));
      }),
    );
  });
});

describe('kept beside the line', () => {
  /** A store with calls that have arguments, and the number of the first one's line. */
  async function told(path?: string): Promise<{ store: Store; vats: Vats; seq: number }> {
    const { store, vats } = await open(path);
    await vats.vat('v').turn(() => {
      ledgerLine('call', { grant: 'g1', method: 'write' }, ['INTIMATE-notes.txt', `${'x'.repeat(9000)}INTIMATE-end`]);
      ledgerLine('call', { grant: 'g1', method: 'write' }, ['other']);
      ledgerLine('call', { grant: 'g1', method: 'look' }, []);
      ledgerLine('call', { grant: 'g1', method: 'huge' }, ['x'.repeat(99_999)]);
    });
    return { store, vats, seq: 2 };
  }

  for (const kind of ['memory', 'disk']) {
    test(`the line commits to them under a salt of its own: ${kind}`, async () => {
      const { store, seq } = await told(kind === 'memory' ? undefined : scratch());
      const [, line, other, none, huge] = await linesOf(store);
      expect(line).toMatchObject({ argc: 2, args: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/) });
      expect([line?.['argsCut'], none?.['argc'], huge?.['argsCut']]).toEqual([undefined, 0, true]);
      expect(JSON.stringify([line, other])).not.toContain('INTIMATE');
      expect(ledgerArguments(store, seq)).toMatch(/^\["INTIMATE-notes.txt","x+INTIMATE-end"\]$/);
      expect(ledgerArguments(store, seq + 2)).toBe('[]');
      expect(ledgerArguments(store, 1)).toBeUndefined();
      expect(ledgerArguments(store, 99)).toBeUndefined();
      const [kept] = engineOf(store).args(seq, seq);
      const by = createHash('sha256').update(kept!.salt).update(kept!.bytes).digest('base64url');
      expect(by).toBe(line?.['args']);
      expect(kept?.salt.length).toBe(32);
      // The same value with another salt has another commitment. Without the salt, a guess proves nothing.
      expect(createHash('sha256').update(kept!.bytes).digest('base64url')).not.toBe(line?.['args']);
    });
  }

  test('no two lines share a salt, so nobody sees that two calls had the same arguments', async () => {
    const { store, vats } = await open();
    await vats.vat('v').turn(() => {
      for (let n = 0; n < 200; n += 1) ledgerLine('call', { grant: 'g1' }, ['said']);
    });
    const told = (await linesOf(store)).slice(1);
    expect(new Set(told.map(({ args }) => args)).size).toBe(200);
    expect(
      new Set(
        engineOf(store)
          .args(2, 201)
          .map(({ salt }) => salt.join()),
      ).size,
    ).toBe(200);
  });

  test('a turn that fails leaves its lines with what they committed to', async () => {
    const { store, vats } = await open();
    const failing = vats.vat('v').turn(() => {
      ledgerLine('call', { grant: 'g1' }, ['said']);
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect((await linesOf(store))[1]).toMatchObject({ code: 'error', argc: 1 });
    expect(ledgerArguments(store, 2)).toBe('["said"]');
  });

  test('bytes that change after the turn change nothing of what was said in it', async () => {
    const { store, vats } = await open();
    const list = ['first'];
    await vats.vat('v').turn(() => {
      ledgerLine('call', {}, list);
      list[0] = 'second';
    });
    expect(ledgerArguments(store, 2)).toBe('["first"]');
  });

  test('arguments that were changed, exchanged or put to a line that has none are found', async () => {
    const changes = [
      `UPDATE args SET bytes = CAST('["x"]' AS BLOB) WHERE seq = 3`,
      'UPDATE args SET salt = zeroblob(32) WHERE seq = 3',
      'UPDATE args SET seq = CASE seq WHEN 3 THEN -4 ELSE -3 END WHERE seq IN (3, 4); UPDATE args SET seq = -seq WHERE seq < 0',
      `UPDATE args SET seq = 1 WHERE seq = 5`,
    ];
    for (const [i, sql] of changes.entries()) {
      const path = scratch();
      const { store, vats } = await told(path);
      await vats.close();
      await store.close();
      const database = new DatabaseSync(join(path, 'store.db'));
      database.exec(sql);
      database.close();
      const again = await openStore({ path });
      const badLine = i === 3 ? 1 : 3;
      expect(await verifyLedger(again), sql).toMatchObject({ ok: false, badLine, why: /arguments/ });
      expect(() => ledgerArguments(again, badLine)).toThrow(expect.objectContaining({ code: 'invalid' }));
      await again.close();
    }
  });

  test('what was redacted is in no file of the store, the line says by whom, and the chain holds', async () => {
    const path = scratch();
    const { store, seq } = await told(path);
    const inFiles = (what: string): string[] =>
      readdirSync(path).filter((name) => readFileSync(join(path, name)).includes(what));
    expect(inFiles('INTIMATE')).not.toEqual([]);
    const before = (await linesOf(store))[seq - 1];
    expect(redactLedger(store, seq, { by: 'owner', why: 'asked to' })).toBe(true);
    expect(inFiles('INTIMATE')).toEqual([]);
    expect(inFiles('x'.repeat(100))).toEqual(inFiles('x'.repeat(300))); // the huge one is still there
    expect(ledgerArguments(store, seq)).toBeUndefined();
    expect(ledgerArguments(store, seq + 1)).toBe('["other"]');
    const lines = await linesOf(store);
    expect(lines[seq - 1]).toEqual(before);
    expect(lines.at(-1)).toMatchObject({ k: 'redact', line: seq, by: 'owner', why: 'asked to' });
    expect(await verifyLedger(store)).toMatchObject({ ok: true });
    // There is nothing to redact a second time, and no line records it.
    expect(redactLedger(store, seq)).toBe(false);
    expect((await linesOf(store)).length).toBe(lines.length);
    for (const wrong of [0, -1, 1.5, Number.NaN])
      expect(() => redactLedger(store, wrong)).toThrow(expect.objectContaining({ code: 'invalid' }));
  });

  test('also where a crash came between the commit and the emptying of the log: the next opening does it', async () => {
    const path = scratch();
    const { store, seq } = await told(path);
    const engine = engineOf(store);
    const ledger = ledgerOf(engine);
    const lines = ledger!.prepare([{ kind: 'session', fields: {} }]);
    engine.commit(engine.epoch, { lines: lines.map((line) => ({ ...line, forgets: seq })) });
    const crashed = join(scratch(), 'copy');
    cpSync(path, crashed, { recursive: true });
    const inFiles = (): string[] =>
      readdirSync(crashed).filter((name) => readFileSync(join(crashed, name)).includes('INTIMATE'));
    expect(inFiles()).not.toEqual([]);
    const again = await open(crashed);
    expect(inFiles()).toEqual([]);
    expect(redactLedger(again.store, seq)).toBe(false);
    expect(await verifyLedger(again.store)).toMatchObject({ ok: true });
  });

  test('only while somebody writes the ledger: the line that says it has to follow the last one', async () => {
    const { store, vats, seq } = await told(scratch());
    await vats.close();
    expect(() => redactLedger(store, seq)).toThrow(expect.objectContaining({ code: 'unavailable' }));
    expect(ledgerArguments(store, seq)).toContain('INTIMATE');
  });
});
