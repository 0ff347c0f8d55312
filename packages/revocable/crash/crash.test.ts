/**
 * kill -9 at random moments, mostly between a charge and its effect: a crash burns uses and never gives one
 * back.
 *
 * The store is then checked: no effect without its charge, no effect twice, no grant with more effects than
 * uses, and a ledger line for each charge.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exportLedger, verifyLedger } from '@hob/vat';
import { expect, onTestFinished, test } from 'vitest';
import { E, grantOfCall, open, USES } from './subject.ts';

const KILLS = 12;
const LIVES = 4;

interface Told {
  readonly word: string;
  readonly call: number;
}

/** Runs a child until it is killed. Returns what it wrote. */
async function live(folder: string, life: number, ms: number): Promise<readonly Told[]> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'child.ts'), folder, String(life)], {
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
  });
  let text = '';
  let complaint = '';
  let killer: NodeJS.Timeout | undefined;
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => void (complaint += chunk));
  (child.stdio[3] as NodeJS.ReadableStream).setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
    if (text.includes('effect ')) killer ??= setTimeout(() => child.kill('SIGKILL'), ms);
  });
  const signal = await new Promise((resolve) => child.once('close', (_code, by) => resolve(by)));
  clearTimeout(killer);
  if (signal !== 'SIGKILL') throw new Error(`it ended by itself: ${complaint}`);
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => {
      const [word = '', call] = line.split(' ');
      return { word, call: Number(call) };
    });
}

test(`kill -9 between charge and effect, ${KILLS} times: uses are burnt, never given back`, async () => {
  let effects = 0;
  let burnt = 0;
  for (let store = 0; store * LIVES < KILLS; store += 1) {
    const folder = mkdtempSync(join(tmpdir(), 'hob-grants-crash-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const told: Told[] = [];
    for (let life = 1; life <= LIVES; life += 1)
      told.push(...(await live(folder, life, 5 + (((store * LIVES + life) * 17) % 120))));
    const again: number[] = [];
    const { store: left, vats, drawer } = await open(folder, (call) => void again.push(call));
    try {
      const lefts = new Map(await E(drawer).left());
      const acted = told.filter(({ word }) => word === 'effect').map(({ call }) => call);
      expect(new Set(acted).size).toBe(acted.length);
      for (const { word, call } of told) if (word === 'answered') expect(acted).toContain(call);
      const lines = new Map<string, number>();
      for await (const line of exportLedger(left)) {
        const { k, grant = '' } = JSON.parse(line) as { k: string; grant?: string };
        if (k === 'call') lines.set(grant.slice(1), (lines.get(grant.slice(1)) ?? 0) + 1);
      }
      for (const [grant, remaining] of lefts) {
        const charged = USES - remaining;
        const done = acted.filter((call) => grantOfCall(call) === grant).length;
        expect(remaining).toBeGreaterThanOrEqual(0);
        expect(done, `effects of grant ${grant}`).toBeLessThanOrEqual(charged);
        expect(lines.get(grant) ?? 0).toBe(charged);
        effects += done;
        burnt += charged - done;
      }
      for (const call of acted) expect(lefts.has(grantOfCall(call))).toBe(true);
      expect(await verifyLedger(left)).toMatchObject({ ok: true });
    } finally {
      await vats.close();
      await left.close();
    }
    expect(again).toEqual([]); // nothing in flight is repeated
  }
  expect(effects).toBeGreaterThan(KILLS);
  expect(burnt).toBeGreaterThanOrEqual(0);
});
