/**
 * Makes calls of a store to its disk or its server fail, and checks the result. Either one call fails, or all calls
 * from it on.
 *
 * First a life without faults counts the calls. Then each call fails in turn, in each way that the ground knows, on a
 * new store and on one that a killed process left. A call to a disk (`faulty-folders.ts`) changes a file, and fails
 * with EIO or ENOSPC. A call to a server is a statement. Its connection may also be lost before the statement or before
 * the answer.
 *
 * In the quick way, one process goes through many such lives and closes its stores itself. In the hard way, each life
 * has its own process. It is killed with its store open, and then the power fails too.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compiled, warmUp } from './compiled.ts';
import type { Fault, FaultGround, FaultGrounds, FaultLane, Found } from './fault-ground.ts';
import type { Plan } from './faulty.ts';
import type { Place } from './here.ts';
import type { Life } from './subjects/faulted.ts';
import { judge, type Told } from './subjects/faulted.ts';

export interface Injection {
  readonly grounds: FaultGrounds;
  /** Takes the hard way. */
  readonly hard: boolean;
  /** Takes only every n-th call, and begins with the call `from`. */
  readonly every?: number;
  readonly from?: number;
  /** Takes only every n-th of the cases of these calls. */
  readonly share?: number;
  readonly keep?: boolean;
  readonly progress?: (done: number, all: number) => void;
}

/** The outcome of the faults of one kind. */
export interface Row {
  lives: number;
  /** No caller got an error: the fault was repaired, or it did not matter. */
  unnoticed: number;
  /** The open was refused, and a later one succeeded. */
  refused: number;
  /** Turns were told `unknown-outcome`, or `unavailable`. */
  unknown: number;
  unavailable: number;
  /** The vats were halted, and a new process found the last durable state. */
  halted: number;
  wentOn: number;
}

export interface Injected {
  /** How many calls one life makes, by kind of store. */
  readonly calls: Readonly<Record<string, number>>;
  readonly rows: Readonly<Record<string, Row>>;
  /** The calls and files that were hit. */
  readonly hits: Readonly<Record<string, number>>;
  readonly faults: readonly string[];
}

const BATCH = 24;
const SILENCE_MS = 240_000;

interface Case extends Fault {
  readonly found: Found;
}

export async function inject(plan: Injection): Promise<Injected> {
  const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'hob-faults-')));
  const faults: string[] = [];
  const ground = await plan.grounds(plan.hard);
  try {
    await warmUp('bank');
    const before = await keepKilled(ground, scratch);
    const rows: Record<string, Row> = {};
    const hits: Record<string, number> = {};
    const { calls, cases } = await casesOf(plan, ground, { scratch, before, faults });

    let done = 0;
    let next = 0;
    const lane = async (number: number): Promise<void> => {
      const place = join(scratch, `lane-${number}`);
      const stores = ground.lane(place);
      while (next < cases.length && faults.length === 0) {
        const some = cases.slice(next, next + (plan.hard ? 1 : BATCH));
        next += some.length;
        const { places, told: all } = await run(stores, some, plan.hard);
        for (const [index, one] of some.entries()) {
          const mine = all[index] ?? [];
          if (mine.length === 0) continue; // one before it ended the process, which is a fault of that one
          const told = [...(one.found === 'a store that was killed' ? before : []), ...mine];
          const name = `${one.error} ${one.on ? 'from then on' : 'once'}`;
          const what = (mine.find(([word]) => word === 'hit')?.[2] ?? '').replace(/ \d+$/, ' (a folder above)');
          const wrong = plan.hard ? await judgeHard(stores, told) : await judgeAt(places[index] as Place, told);
          // A message whose turn could not read is delivered, and its turn failed.
          if (ground.isRead(what) && !one.on) forgive(wrong, /^the message of transfer \d+ arrived 0 times$/);
          if (!one.on && whichOf(mine, 'went on') === 0) wrong.push('it did not go on after one fault');
          if (whichOf(mine, 'over', -1) !== 0) wrong.push(`its process ended: ${complaint(mine)}`);
          faults.push(...wrong.slice(0, 5).map((fault) => `${one.found}, call ${one.at} (${what}), ${name}: ${fault}`));
          count((rows[name] ??= newRow()), mine);
          if (what !== '') hits[what] = (hits[what] ?? 0) + 1;
        }
        if (faults.length > 0 && plan.keep) {
          faults.push(`kept in ${place}`);
          return;
        }
        await stores.end();
        done += some.length;
        plan.progress?.(done, cases.length);
      }
    };
    await Promise.all(Array.from({ length: ground.lanes }, (_, number) => lane(number)));
    return { calls, rows, hits, faults };
  } finally {
    await ground.close();
    if (!plan.keep || faults.length === 0) rmSync(scratch, { recursive: true, force: true });
  }
}

function forgive(wrong: string[], what: RegExp): void {
  const at = wrong.findIndex((fault) => what.test(fault));
  if (at >= 0) wrong.splice(at, 1);
}

const noFault = (found: Found): Case => ({ at: 0, error: '', on: false, found });

/**
 * Makes the store of a killed process: all data is in its log, nothing is closed. Returns the reports of that process.
 */
async function keepKilled(ground: FaultGround, scratch: string): Promise<readonly Told[]> {
  const lane = ground.lane(join(scratch, 'template'));
  const { told } = await run(lane, [noFault('nothing')], true);
  await ground.keep(lane);
  return (told[0] ?? []).filter(([word]) => word !== 'audit');
}

/** Counts the calls of a life in which nothing fails. Each of them is to fail in each way. */
async function casesOf(
  plan: Injection,
  ground: FaultGround,
  {
    scratch,
    before,
    faults,
  }: { readonly scratch: string; readonly before: readonly Told[]; readonly faults: string[] },
): Promise<{ readonly calls: Readonly<Record<string, number>>; readonly cases: readonly Case[] }> {
  const lane = ground.lane(join(scratch, 'counted'));
  const calls: Record<string, number> = {};
  const cases: Case[] = [];
  for (const found of ground.founds) {
    const { places, told } = await run(lane, [noFault(found)], plan.hard);
    const [mine = []] = told;
    faults.push(
      ...(await judgeAt(places[0] as Place, found === 'a store that was killed' ? [...before, ...mine] : mine)),
    );
    const all = whichOf(mine, 'calls');
    const mended = whichOf(mine, 'mended');
    calls[found] = all;
    for (let at = plan.from ?? 1; at <= all; at += plan.every ?? 1)
      for (const error of ground.errors)
        for (const on of [false, true]) if (!on || at <= mended) cases.push({ at, error, on, found });
    await lane.end();
  }
  return { calls, cases: cases.filter((_, n) => n % (plan.share ?? 1) === 0) };
}

const whichOf = (told: readonly Told[], word: string, none = 0): number =>
  told.find(([one]) => one === word)?.[1] ?? none;
const complaint = (told: readonly Told[]): string => told.find(([word]) => word === 'died')?.[2] ?? '';
const newRow = (): Row => ({ lives: 0, unnoticed: 0, refused: 0, unknown: 0, unavailable: 0, halted: 0, wentOn: 0 });

function count(row: Row, told: readonly Told[]): void {
  const has = (code: string): boolean => told.some(([word]) => word === code || word.endsWith(`: ${code}`));
  const [refused, unknown, unavailable, halted] = [
    has('refused'),
    has('unknown-outcome'),
    has('unavailable'),
    has('vat-halted'),
  ];
  row.lives += 1;
  row.refused += Number(refused);
  row.unknown += Number(unknown);
  row.unavailable += Number(unavailable);
  row.halted += Number(halted);
  row.unnoticed += Number(!refused && !unknown && !unavailable && !halted);
  row.wentOn += Number(has('went on'));
}

// ---- lives ---------------------------------------------------------------------------------------------------------------

interface Run {
  readonly places: readonly Place[];
  /** What each life told. */
  readonly told: readonly (readonly Told[])[];
}

/** Runs one process through these faults. */
async function run(lane: FaultLane, cases: readonly Case[], hard: boolean): Promise<Run> {
  const places = await lane.begin(cases.map(({ found }) => found));
  const lives = cases.map(({ found, ...fault }, index): Life => {
    return { ...fault, place: places[index] as Place, life: found === 'a store that was killed' ? 2 : 1 };
  });
  const plan: Plan = { armer: lane.armer, control: lane.control, lives, closes: !hard };
  const child = spawn(process.execPath, [join(import.meta.dirname, 'faulty.ts'), JSON.stringify(plan)], {
    env: { ...process.env, ...compiled, ...lane.environment },
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
  });
  const told: Told[][] = cases.map(() => []);
  let [text, complaint, over] = ['', '', false];
  const silent = setTimeout(() => child.kill('SIGKILL'), SILENCE_MS);
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    complaint = (complaint + chunk).slice(-2000);
  });
  (child.stdio[3] as NodeJS.ReadableStream).setEncoding('utf8').on('data', (chunk: string) => {
    const lines = (text + chunk).split('\n');
    text = lines.pop() ?? '';
    for (const line of lines) {
      const [index, ...one]: readonly [number, ...Told] = JSON.parse(line);
      told[index]?.push(one);
      over = one[0] === 'over' && index === cases.length - 1;
    }
    if (hard && over) child.kill('SIGKILL');
  });
  const code = await new Promise((resolve) => child.once('close', (code, signal) => resolve(code ?? signal)));
  clearTimeout(silent);
  if (!over || (!hard && code !== 0))
    told.find((one) => whichOf(one, 'over', -1) !== 0)?.push(['died', 0, `${code} ${complaint.trim()}`]);
  return { places, told };
}

async function judgeAt(place: Place, told: readonly Told[]): Promise<string[]> {
  try {
    return [...(await judge(place, told))];
  } catch (error) {
    return [`the store does not open: ${(error as Error).message}`];
  }
}

/** As the kill left it, then as the power cut does. */
async function judgeHard(lane: FaultLane, told: readonly Told[]): Promise<string[]> {
  const look = async (how: string): Promise<string[]> => {
    try {
      return await lane.copied(async (copy) => (await judge(copy, told)).map((fault) => `${how}: ${fault}`));
    } catch (error) {
      return [`${how}: the store does not open: ${(error as Error).message}`];
    }
  };
  const killed = await look('killed');
  if (killed.length > 0) return killed;
  await lane.cut();
  return await look('after a power cut');
}
