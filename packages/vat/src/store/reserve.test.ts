/** A full disk: nothing more is allowed to happen, and everything can still be ended. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { requires } from '../../../../test/needs.ts';
import { systemRandom } from '../drivers/random.ts';
import { type Ledger, makeLedger } from '../ledger/chain.ts';
import type { KnownLedgerEntry } from '../ledger/kinds.ts';
import { verifyLedger } from '../ledger/verify.ts';
import { testClock } from '../testing/test-clock.ts';
import { reserveIn } from './drivers/reserve.ts';
import type { StoreEngine } from './engine.ts';
import { makeEngine } from './engine.ts';
import { memoryRows } from './memory.ts';
import { Full, type Rows } from './rows.ts';
import { openStore, storeOf } from './store.ts';

const powers = { clock: testClock(), random: systemRandom };
const unavailable = expect.objectContaining({ name: 'CapError', code: 'unavailable' });

function scratch(): string {
  const folder = join(mkdtempSync(join(tmpdir(), 'hob-reserve-')), 'state');
  mkdirSync(folder);
  onTestFinished(() => rmSync(dirname(folder), { recursive: true, force: true }));
  return folder;
}

function ledgerOn(rows: Rows): { engine: StoreEngine; ledger: Ledger } {
  const engine = makeEngine(rows);
  onTestFinished(() => engine.close());
  return { engine, ledger: makeLedger(engine, powers) };
}

const entry = (kind: KnownLedgerEntry['kind'], grant = 'g1'): KnownLedgerEntry => ({
  kind,
  fields: { grant, method: 'm', code: 'c' },
});

describe('the rule', () => {
  test('when nothing else can be written, revocations, expiry and the stop are, in the room that is kept', async () => {
    const { engine, ledger } = ledgerOn(memoryRows({ maxLines: 3, reserve: 4 }));
    ledger.write([entry('call'), entry('call')]);
    expect(() => ledger.write([entry('call')])).toThrow(unavailable);
    ledger.write([entry('revoke')]);
    ledger.write([entry('expire', 'g2')]);
    ledger.write([entry('host-stop')]);
    expect(engine.head().seq).toBe(6);
    expect(await verifyLedger(storeOf(engine))).toMatchObject({ ok: true, lines: 6 });
  });

  test('also where it is a revocation that finds the disk full', () => {
    const { engine, ledger } = ledgerOn(memoryRows({ maxLines: 1, reserve: 2 }));
    ledger.write([entry('revoke')]);
    expect(engine.head().seq).toBe(2);
    // The reserve is not for commits that allow something, although there is some left of it.
    expect(() => ledger.write([entry('call')])).toThrow(unavailable);
    ledger.write([entry('revoke', 'g2')]);
  });

  test('a revocation takes nothing along that is not one', () => {
    const { engine, ledger } = ledgerOn(memoryRows({ maxLines: 1, reserve: 9 }));
    for (const other of ['call', 'grant', 'refuse', 'result', 'session'] as const)
      expect(() => ledger.write([entry('revoke'), entry(other)]), other).toThrow(unavailable);
    expect(engine.head().seq).toBe(1);
  });

  test('but the count of refusals before it, and a checkpoint that falls due, go with it; alone they do not', () => {
    const rows = memoryRows({ maxLines: 1000, reserve: 9 });
    const { engine, ledger } = ledgerOn(rows);
    ledger.write([...Array.from({ length: 997 }, () => entry('call')), entry('refuse'), entry('refuse')]);
    expect(engine.head().seq).toBe(999);
    ledger.write([entry('revoke')]); // with the count before it, and the checkpoint after line 1,000: three lines where one has room
    expect(engine.head().seq).toBe(1002);
    expect(() => ledger.write([entry('refuse')])).toThrow(unavailable);
    powers.clock.advance(61_000);
    expect(engine.head().seq).toBe(1002);
  });

  test('the room is used once, and when that is full too the answer is no', () => {
    let released = 0;
    const rows = memoryRows({ maxLines: 2, reserve: 2 });
    const { engine, ledger } = ledgerOn({ ...rows, release: () => (released += 1) > 0 && rows.release() });
    for (const grant of ['a', 'b', 'c']) ledger.write([entry('revoke', grant)]);
    for (const grant of ['d', 'e']) expect(() => ledger.write([entry('revoke', grant)])).toThrow(unavailable);
    expect(released).toBe(3);
    expect(engine.head().seq).toBe(4);
  });

  test('an error that is not lack of room is the last: what is on the disk then, nobody knows', () => {
    const rows = memoryRows({ reserve: 5 });
    let broken = false;
    const append: Rows['append'] = (...args) => {
      if (broken) throw new Error('EIO');
      rows.append(...args);
    };
    const { ledger } = ledgerOn({ ...rows, append });
    broken = true;
    expect(() => ledger.write([entry('revoke')])).toThrow(unavailable);
    broken = false;
    expect(() => ledger.write([entry('revoke')])).toThrow(unavailable);
  });

  test('an error of another kind in the second try is the last', () => {
    const rows = memoryRows();
    const errors = [new Full(), new Error('EIO')];
    let armed = false;
    const append: Rows['append'] = (...args) => {
      const error = armed ? errors.shift() : undefined;
      if (error !== undefined) throw error;
      rows.append(...args);
    };
    const { ledger } = ledgerOn({ ...rows, append, release: () => true });
    armed = true;
    expect(() => ledger.write([entry('revoke')])).toThrow(unavailable);
    expect(() => ledger.write([entry('revoke')])).toThrow(unavailable);
  });
});

describe('the file', () => {
  test('takes its room when the store is opened, for its owner only, and again after it was used or damaged', async () => {
    const path = scratch();
    const file = join(path, 'reserve');
    const blocks = (): number => statSync(file).blocks * 512;
    await (await openStore({ path })).close();
    expect(blocks()).toBeGreaterThanOrEqual(1 << 20);
    expect((statSync(file).mode & 0o777).toString(8)).toBe('600');
    const reserve = reserveIn(path);
    expect([reserve.release(), existsSync(file), reserve.release()]).toEqual([true, false, false]);
    for (const damage of [() => {}, () => writeFileSync(file, 'x'), () => truncateSync(file, 1000)]) {
      damage();
      await (await openStore({ path })).close();
      expect(blocks()).toBeGreaterThanOrEqual(1 << 20);
    }
    expect(reserveIn('/proc/nowhere').fill()).toBe(false);
  });
});

/** Fills a file system of 6 MiB of its own, then counts the revocations that still fit. */
const program = (folder: string): string => {
  const url = (file: string): string => JSON.stringify(new URL(file, import.meta.url).href);
  return `
    import { appendFileSync, existsSync, writeFileSync, writeSync, openSync } from 'node:fs';
    import { engineOf, openStore } from ${url('./store.ts')};
    import { makeLedger } from ${url('../ledger/chain.ts')};
    import { verifyLedger } from ${url('../ledger/verify.ts')};
    import { systemClock } from ${url('../drivers/clock.ts')};
    import { systemRandom } from ${url('../drivers/random.ts')};
    const path = ${JSON.stringify(folder)} + '/state';
    const powers = { clock: systemClock(), random: systemRandom };
    let store = await openStore({ path });
    let ledger = makeLedger(engineOf(store), powers);
    const write = (kind, grant) => { try { ledger.write([{ kind, fields: { grant } }]); return 'ok'; } catch (error) { return error.code; } };
    const said = {};
    said.before = write('call', 'g0');
    // Another program fills the disk.
    try { for (const other = openSync(path + '/../other', 'w'); ; ) writeSync(other, Buffer.alloc(4096, 1)); } catch (error) { said.full = error.code; }
    let calls = 0;
    while (calls < 5000 && (said.call = write('call', 'g1')) === 'ok') calls += 1;
    said.calls = calls; // the log had some room of its own
    let revoked = 0;
    while (revoked < 5000 && write('revoke', 'g' + revoked) === 'ok') revoked += 1;
    said.revoked = revoked;
    said.callAgain = write('call', 'g1');
    said.reserveLeft = existsSync(path + '/reserve');
    said.lines = engineOf(store).head().seq;
    said.verified = (await verifyLedger(store)).ok;
    await store.close();
    // After making room, the store opens, everything is there, and the reserve is filled again.
    writeFileSync(path + '/../other', '');
    store = await openStore({ path });
    said.after = engineOf(store).head().seq;
    ledger = makeLedger(engineOf(store), powers);
    said.verifiedAfter = (await verifyLedger(store)).ok;
    said.reserveAgain = existsSync(path + '/reserve');
    said.callAfter = write('call', 'g1');
    await store.close();
    console.log(JSON.stringify(said));`;
};

requires('userns', 'unshare')(
  'on a disk that really is full: calls are refused, dozens of revocations are kept',
  () => {
    const folder = scratch();
    // Written out: as an argument the program would have to survive the shell.
    const file = join(scratch(), 'program.mjs');
    writeFileSync(file, program(folder));
    const script = 'mount -t tmpfs -o size=6m,mode=700 none "$1" && exec "$2" "$3"';
    const out = execFileSync('unshare', ['-Urm', 'sh', '-c', script, 'sh', folder, process.execPath, file]).toString();
    const said = JSON.parse(out);
    expect(said).toMatchObject({
      before: 'ok',
      full: 'ENOSPC',
      call: 'unavailable',
      callAgain: 'unavailable',
      reserveLeft: false,
      verified: true,
      verifiedAfter: true,
      reserveAgain: true,
      callAfter: 'ok',
    });
    expect(said.revoked).toBeGreaterThan(50);
    expect(said.lines).toBeGreaterThanOrEqual(2 + said.calls + said.revoked);
    expect(said.after).toBeGreaterThanOrEqual(said.lines); // and a last checkpoint, if there was room
  },
);
