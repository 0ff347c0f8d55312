/** The copy of the ledger, and when old lines are dropped. The disk of the copy is real, and fails. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'; // biome-ignore format: one line
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Host, openHost } from '@hob/host';
import { verifyLedger } from '@hob/vat';
import { testClock } from '@hob/vat/testing';
import { expect, onTestFinished, test } from 'vitest';
import { LedgerCopy } from './drivers/ledger-copy.ts';
import { ledgerKeeper } from './keep-ledger.ts';

const DAY = 86_400_000;
const BEGIN = 1_800_000_000_000;

function place(): string {
  const folder = mkdtempSync(join(tmpdir(), 'hob-keep-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
const stateIn = (folder: string): string => {
  const state = join(folder, 'state');
  mkdirSync(state, { recursive: true });
  return state;
};
/** Runs a host at a day after the first, and closes it. */
async function onDay<R>(folder: string, day: number, act: (host: Host, now: () => number) => Promise<R>): Promise<R> {
  const now = (): number => BEGIN + day * DAY;
  await using host = await openHost({ stateDir: stateIn(folder), clock: testClock({ wall: now() }) });
  return await act(host, now);
}
async function linesOf(host: Host): Promise<readonly string[]> {
  const all: string[] = [];
  for await (const line of host.ledger()) all.push(line);
  return all;
}
const copyOf = (folder: string, host: Host): LedgerCopy =>
  new LedgerCopy(join(folder, 'copy'), (from) => host.ledger({ from }));
const files = (folder: string): readonly string[] => readdirSync(join(folder, 'copy')).sort();
const fileIn = (folder: string): string => join(folder, 'copy', files(folder).find((name) => /-[0-9a-f]{8}\.jsonl$/.test(name))!); // biome-ignore format: one line
const copied = (folder: string): readonly string[] => readFileSync(fileIn(folder), 'utf8').split('\n').slice(0, -1);

test('the copy has each line once and whole, over restarts and over half a line that a kill left; it verifies by itself', async () => {
  const folder = place();
  for (const [n, half] of ['', '{"v":1,"seq":', 'x'.repeat(9000)].entries()) {
    await onDay(folder, n, async (host) => {
      const copy = copyOf(folder, host);
      await host.addGranter(`person-${n}`);
      await copy.catchUp();
      await host.openSession({ name: `s${n}`, granters: [] });
      await copy.catchUp();
      await copy.catchUp();
      expect(copied(folder)).toEqual(await linesOf(host));
    });
    writeFileSync(fileIn(folder), half, { flag: 'a' });
  }
  await onDay(folder, 5, async (host) => {
    await copyOf(folder, host).catchUp();
    expect(copied(folder)).toEqual(await linesOf(host));
    expect(await verifyLedger({ file: fileIn(folder) })).toMatchObject({ ok: true });
  });
  expect(statSync(fileIn(folder)).mode & 0o777).toBe(0o600);
  expect(statSync(join(folder, 'copy')).mode & 0o777).toBe(0o700);
});

test('a copy that this ledger does not continue is put aside unchanged: changed, foreign, and of a later state', async () => {
  const folder = place();
  await onDay(folder, 0, (host) => copyOf(folder, host).catchUp());
  const file = fileIn(folder);
  const whole = readFileSync(file, 'utf8');
  const wrong = [
    whole.replace(/"t":\d+/g, '"t":1'),
    'a shopping list',
    'bread\nmilk',
    `${whole}{"v":1,"seq":999999}\n`,
  ];
  for (const [n, text] of wrong.entries()) {
    writeFileSync(file, text);
    await onDay(folder, n + 1, async (host) => {
      await copyOf(folder, host).catchUp();
      expect(copied(folder)).toEqual(await linesOf(host));
    });
    expect(readFileSync(file.replace('.jsonl', `.${n + 1}.jsonl`), 'utf8')).toBe(text);
  }
  // Somebody who may write there cannot lead the copy elsewhere.
  rmSync(file);
  writeFileSync(join(folder, 'elsewhere'), '');
  symlinkSync(join(folder, 'elsewhere'), file);
  await onDay(folder, 9, async (host) => {
    await expect(copyOf(folder, host).catchUp()).rejects.toMatchObject({ code: 'ELOOP' });
  });
  expect(readFileSync(join(folder, 'elsewhere'), 'utf8')).toBe('');
});

test('a line is dropped only when it is old enough and in the copy; a copy that fails holds it back, and is tried again', async () => {
  const folder = place();
  for (let day = 0; day < 3; day += 1) await onDay(folder, day, (host) => host.openSession({ name: `s${day}` }));
  await onDay(folder, 40, async (host, now) => {
    const said: string[] = [];
    const log = (line: string): void => void said.push(line);
    const before = await linesOf(host);
    writeFileSync(join(folder, 'copy'), 'a file is in the way');
    const copy = copyOf(folder, host);
    const keep = ledgerKeeper({ host, keepMs: 30 * DAY, copy, now, log });
    await keep();
    await keep();
    expect(await linesOf(host)).toEqual(before);
    expect(said).toEqual([expect.stringMatching(/^the ledger is not copied: EEXIST.* It is tried again$/)]);
    rmSync(join(folder, 'copy'));
    await ledgerKeeper({ host, keepMs: 50 * DAY, copy, now, log })();
    expect(await linesOf(host)).toEqual(before);
    await keep();
    expect(said.at(-1)).toMatch(/^\d+ lines of the ledger were older than it is kept, and were dropped$/);
    const after = await linesOf(host);
    expect(after.length).toBeLessThan(before.length);
    expect(after.join('\n')).toMatch(/"k":"cut".*"by":"hob.yaml"/);
    expect(await host.verify()).toMatchObject({ ok: true });
    await copy.catchUp();
    expect(copied(folder).slice(0, before.length)).toEqual(before);
    expect(await verifyLedger({ file: fileIn(folder) })).toMatchObject({ ok: true });
  });
});
