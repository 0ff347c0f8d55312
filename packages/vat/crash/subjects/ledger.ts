/**
 * Turns that write a ledger line and call a driver, which tells the outside process of its effect.
 *
 * Checked: the store opens and its ledger verifies; each turn that was acknowledged has its line, also a
 * failed one; each effect has its line, and happened once and in the order of the turns; what a failed turn
 * sent never happened.
 */
import { driver, E, exportLedger, ledgerLine, openVats, verifyLedger } from '../../src/index.ts';
import { openAt, openToLook, type Place } from '../here.ts';
import type { Subject, Tell } from './subject.ts';

/** Turns under way at once, so that a store that commits groups has some to group. */
const CALLERS = 4;
/** More turns than one life can run: numbers are then unique in a store. */
const PER_LIFE = 1_000_000;

/** Every third turn sends nothing, every seventh fails. */
const fails = (turn: number): boolean => turn % 7 === 3;
const sends = (turn: number): boolean => turn % 3 !== 0;

async function work(place: Place, life: number, tell: Tell): Promise<void> {
  const store = await openAt(place);
  const vats = await openVats({ store });
  const vat = vats.vat('subject');
  const outside = driver<{ act(turn: number): void }>({ act: async ([turn]) => tell('effect', turn) });
  tell('open', 0);
  if (vats.restored) tell('restored', life);

  let turns = life * PER_LIFE;
  const caller = async (): Promise<void> => {
    for (;;) {
      let turn = 0;
      try {
        await vat.turn(() => {
          turn = turns += 1;
          // From one frame of the log to several, and a checkpoint now and then.
          ledgerLine('call', { turn, pad: 'x'.repeat((turn * 37) % 7000) });
          if (sends(turn)) E.sendOnly(outside).act(turn);
          if (fails(turn)) throw new Error('this turn fails');
        });
      } catch (error) {
        if (!fails(turn)) throw error;
      }
      tell('acknowledged', turn);
      await new Promise(setImmediate);
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
}

const check: Subject['check'] = async (place, told) => {
  const faults: string[] = [];
  const store = await openToLook(place);
  try {
    const verdict = await verifyLedger(store);
    if (!verdict.ok) faults.push(`the ledger does not verify: line ${verdict.badLine}: ${verdict.why}`);

    const lines = new Map<number, { readonly code?: string }>();
    for await (const text of exportLedger(store)) {
      const line: { k: string; turn: number; code?: string } = JSON.parse(text);
      if (line.k !== 'call') continue;
      if (lines.has(line.turn)) faults.push(`turn ${line.turn} has two lines`);
      if (fails(line.turn) !== (line.code === 'error'))
        faults.push(`the line of turn ${line.turn} lies about its outcome`);
      lines.set(line.turn, line);
    }

    let last = 0;
    for (const { word, which } of told) {
      if (word === 'restored') faults.push(`life ${which} took it for one that was put back`);
      if (word === 'open' || word === 'restored') continue;
      if (!lines.has(which)) faults.push(word === 'effect' ? `effect ${which} has no line` : `turn ${which} is lost`);
      if (word !== 'effect') continue;
      if (!sends(which) || fails(which)) faults.push(`turn ${which} had an effect: it failed, or sent nothing`);
      if (which <= last) faults.push(`effect ${which} came after ${last}`);
      last = which;
    }
  } finally {
    await store.close();
  }
  return faults;
};

export const subject: Subject = { work, check };
