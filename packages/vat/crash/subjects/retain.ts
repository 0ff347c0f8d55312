/**
 * Turns that write ledger lines, while old lines are dropped again and again and checkpoints are sent to a
 * file.
 *
 * Checked: the store opens, its ledger verifies, also against each checkpoint that was sent; no line is
 * missing but those that a signed cut tells of; what was said to be dropped is; no life takes the store for
 * one that was put back.
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Clock, exportLedger, ledgerLine, openVats, systemClock, verifyLedger } from '../../src/index.ts';
import { checkpointsIn, retainLedger } from '../../src/store.ts';
import { openAt, openToLook, type Place } from '../here.ts';
import type { Subject, Tell } from './subject.ts';

/** More turns than one life can run: numbers are then unique in a store. */
const PER_LIFE = 1_000_000;
/** So many lines a turn: a cut then takes some slices now and then. */
const LINES = 60;

/** Beside the store, so that it is copied with it. */
const sentFile = ({ folder }: Place): string => join(dirname(folder), 'sent');

/** An hour takes 100 ms, so that checkpoints are made and sent. */
function hurried(): Clock {
  const real = systemClock();
  return {
    boottime: () => real.boottime(),
    wall: () => real.wall(),
    tick: () => real.tick(),
    get bootId() {
      return real.bootId;
    },
    after: (ms, then) => real.after(ms / 36_000, then),
  };
}

async function work(place: Place, life: number, tell: Tell): Promise<void> {
  const store = await openAt(place);
  const onCheckpoint = (checkpoint: string): void => {
    tell('sent', Number(checkpoint.split('\n')[1]));
    appendFileSync(sentFile(place), `\n${checkpoint}\n`);
  };
  const vats = await openVats({ store, clock: hurried(), onCheckpoint });
  tell('open', 0);
  if (vats.restored) tell('restored', life);
  let turns = life * PER_LIFE;
  const write = async (): Promise<void> => {
    const turn = (turns += 1);
    await vats.vat('subject').turn(() => {
      for (let line = 0; line < LINES; line += 1)
        ledgerLine('call', { turn, line, pad: 'x'.repeat((turn * 37) % 300) });
    });
    tell('acknowledged', turn);
  };
  const drop = async (): Promise<void> => {
    const { dropped, from } = await retainLedger(store, { before: Date.now() + 1000, by: 'subject' });
    if (dropped > 0) tell('dropped', from - 1);
  };
  // First what earlier lives left: a life may not last for more.
  await drop();
  for (;;) await Promise.all([write(), write(), drop()]);
}

const check: Subject['check'] = async (place, told) => {
  const faults: string[] = [];
  const sent = existsSync(sentFile(place)) ? checkpointsIn(readFileSync(sentFile(place), 'utf8')) : [];
  const store = await openToLook(place);
  try {
    const verdict = await verifyLedger(store, sent.length === 0 ? {} : { against: sent });
    if (!verdict.ok) faults.push(`the ledger does not verify: line ${verdict.badLine}: ${verdict.why}`);
    const kept = new Map<number, number>();
    const seqs: number[] = [];
    for await (const text of exportLedger(store)) {
      const { seq, k, turn }: { seq: number; k: string; turn: number } = JSON.parse(text);
      seqs.push(seq);
      if (k === 'call') kept.set(turn, (kept.get(turn) ?? 0) + 1);
    }
    const gap = verdict.dropped?.to ?? 1;
    seqs.forEach((seq, index) => {
      if (seq !== (index === 0 ? 1 : gap + index)) faults.push(`line ${seq} stands at place ${index}`);
    });
    const [oldest = Number.POSITIVE_INFINITY] = kept.keys();
    for (const [turn, lines] of kept)
      if (turn !== oldest && lines !== LINES) faults.push(`turn ${turn} has ${lines} lines`);
    for (const { word, which } of told) {
      if (word === 'restored') faults.push(`life ${which} took it for one that was put back`);
      if (word === 'acknowledged' && which > oldest && !kept.has(which)) faults.push(`turn ${which} is lost`);
      if (word === 'acknowledged' && gap === 1 && !kept.has(which)) faults.push(`turn ${which} is gone without a cut`);
      if (word === 'dropped' && gap < which) faults.push(`lines up to ${which} are back`);
      if (word === 'sent' && verdict.signed < which)
        faults.push(`the checkpoint of ${which} lines was sent, and is lost`);
    }
  } finally {
    await store.close();
  }
  return faults;
};

export const subject: Subject = { work, check };
