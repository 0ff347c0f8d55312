import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { makeLine } from '../src/ledger/line.ts';
import { diskOf } from '../src/store/disk.ts';
import { engineOn } from '../src/store/engine.ts';
import type { LedgerLine } from '../src/store/records.ts';
import { sqliteRows } from '../src/store/sqlite.ts';

test('what was prepared to follow a commit that a full disk did not take is not done either, nor may it have the kept room', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'hob-follower-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const disk = diskOf(() => sqliteRows(folder, { maxPages: 64 }));
  // As a thread does: the second is given before the first is known to have failed.
  const asked: (() => void)[] = [];
  const engine = engineOn({
    ...disk,
    opened: disk.opened,
    signer: disk.signer,
    writeLater: (write, then) => void asked.push(() => disk.writeLater(write, then)),
  });
  onTestFinished(() => engine.close());
  const next = (kind: 'call' | 'revoke'): LedgerLine => {
    const { seq, hash } = engine.head();
    const line = makeLine({ seq: seq + 1, t: 0, vt: 0, kind, fields: {}, prev: hash });
    return { ...line, urgency: kind === 'revoke' ? 'ends' : undefined };
  };
  engine.commit(engine.epoch, { lines: [next('call')] });
  const said: string[] = [];
  const commit = (what: string, line: LedgerLine, cells?: ReadonlyMap<string, string>): void =>
    engine.commitLater(engine.epoch, { lines: [line], ...(cells && { cells }) }, (error) =>
      said.push(`${what} ${error === undefined}`),
    );
  commit('too large', next('call'), new Map([['a/v/1', 'x'.repeat(1_000_000)]]));
  commit('follower', next('revoke'));
  for (const ask of asked.splice(0)) ask();
  expect(said).toEqual(['too large false', 'follower false']);
  expect(engine.lines(1, 10).map(({ seq }) => seq)).toEqual([1]);
  // Prepared anew it is taken.
  commit('revocation', next('revoke'));
  for (const ask of asked.splice(0)) ask();
  expect(said.at(-1)).toBe('revocation true');
  expect(engine.lines(1, 10).map(({ seq }) => seq)).toEqual([1, 2]);
});
