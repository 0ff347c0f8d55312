/** Checkpoints of a real host, checked with the code of the page, and by those who change the ledger. */
import { webcrypto } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openHost } from '@hob/host';
import { expect, onTestFinished, test } from 'vitest';
import { type CheckPowers, checkpointsOf } from './checkpoint.ts';

const { subtle } = webcrypto;
const powers: CheckPowers = {
  digest: async (bytes) => new Uint8Array(await subtle.digest('SHA-256', bytes)),
  signed: async (key, signature, text) =>
    await subtle.verify('Ed25519', await subtle.importKey('raw', key, 'Ed25519', false, ['verify']), signature, text),
};

/** The lines of a host that was closed, so that a checkpoint is among them, and opened again. */
async function ledger(): Promise<string[]> {
  const stateDir = mkdtempSync(join(tmpdir(), 'hob-checkpoints-'));
  onTestFinished(() => rmSync(stateDir, { recursive: true, force: true }));
  const first = await openHost({ stateDir });
  await first.addGranter('owner');
  for (const name of ['a', 'b', 'c']) await first.openSession({ name, granters: ['owner'] });
  await first.close();
  const second = await openHost({ stateDir });
  const lines: string[] = [];
  for await (const line of second.ledger()) lines.push(line);
  await second.close();
  return lines;
}

test('a checkpoint of the host is signed, and is of the lines; with a line of others left out its signature still counts', async () => {
  const lines = await ledger();
  expect(await checkpointsOf(lines, powers)).toEqual({ signed: 1, compared: 1, bad: undefined });
  expect(await checkpointsOf(lines.toSpliced(2, 1), powers)).toEqual({ signed: 1, compared: 0, bad: undefined });
});

test('a changed line, a checkpoint of another size, a changed signature and another key are found', async () => {
  const lines = await ledger();
  const at = lines.findIndex((line) => JSON.parse(line).k === 'checkpoint');
  const bad = async (changed: readonly string[]): Promise<unknown> => (await checkpointsOf(changed, powers)).bad;
  const withNote = (change: (note: string) => string): readonly string[] => {
    const line = JSON.parse(lines[at]!) as { note: string };
    return lines.with(at, JSON.stringify({ ...line, note: change(line.note) }));
  };
  expect(await bad(lines.with(1, lines[1]!.replace('owner', 'other')))).toBe(at + 1);
  expect(await bad(withNote((note) => note.replace(/\n\d+\n/, '\n2\n')))).toBe(at + 1);
  expect(await bad(withNote((note) => note.replace(/(.)(={1,2}\n)$/, (_, last: string, end: string) => `${last === 'A' ? 'Q' : 'A'}${end}`)))).toBe(at + 1); // biome-ignore format: one line
  expect(await bad(withNote((note) => note.split('\n\n')[0]!))).toBe(at + 1);
  const others = await ledger();
  expect(await bad([others[0]!, ...lines.slice(1)])).toBe(at + 1);
  expect(await bad(['nonsense', ...lines.slice(1)])).toBeDefined();
});
