/**
 * Says no to a store once at each call that changes its disk, or from each call on, and judges what came of
 * it.
 *
 * The calls are counted first; `faults.c` then fails one after the other with EIO and with ENOSPC, on a store
 * that is new and on one that a killed process left. In the quick way one process lives through many such
 * lives and closes its stores itself. In the hard way each life has a process that is killed with its store
 * open, and then the power fails too.
 */
import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { compiled, warmUp } from './compiled.ts';
import { makeControl } from './control.ts';
import type { Plan } from './faulty.ts';
import { cut, type Disk, environmentOf, seal } from './powercut.ts';
import { buildShim } from './shim.ts';
import type { Life } from './subjects/faulted.ts';
import { judge, type Told } from './subjects/faulted.ts';

export interface Injection {
  /** Killed with the store open, and then a power cut. */
  readonly hard: boolean;
  /** Takes every n-th call only, from this one on. */
  readonly every?: number;
  readonly from?: number;
  readonly keep?: boolean;
  readonly progress?: (done: number, all: number) => void;
}

/** The outcome of the faults of one kind. */
export interface Row {
  lives: number;
  /** Nobody was told: it was made good, or it did not matter. */
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

const LANES = 2;
const BATCH = 24;
const ERRORS = ['EIO', 'ENOSPC'] as const;
const SILENCE_MS = 240_000;

/**
 * The state that the process finds: nothing; a folder that was made, and no disk knows it yet; or a store as a killed
 * process left it, all of it in its log.
 */
type Kind = 'nothing' | 'a new folder' | 'a store that was killed';

interface Case extends Omit<Life, 'folder' | 'life'> {
  readonly found: Kind;
}

export async function inject(plan: Injection): Promise<Injected> {
  const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'hob-faults-')));
  const faults: string[] = [];
  try {
    await warmUp('bank');
    const template = await makeTemplate(scratch);
    const rows: Record<string, Row> = {};
    const hits: Record<string, number> = {};
    const calls: Record<string, number> = {};
    const cases: Case[] = [];
    const kinds: readonly Kind[] = [
      'nothing',
      ...(plan.hard ? (['a new folder'] as const) : []),
      'a store that was killed',
    ];
    for (const found of kinds) {
      const none: Case = { at: 0, error: 'EIO', on: false, found };
      const [told = []] = await run(scratch, [none], template, plan.hard);
      faults.push(...(await judgeAt(scratch, 0, [...toldBefore(found, template), ...told])));
      const all = whichOf(told, 'calls');
      const mended = whichOf(told, 'mended');
      calls[found] = all;
      for (let at = plan.from ?? 1; at <= all; at += plan.every ?? 1)
        for (const error of ERRORS)
          for (const on of [false, true]) if (!on || at <= mended) cases.push({ at, error, on, found });
      rmSync(join(scratch, 'lives'), { recursive: true });
    }

    let done = 0;
    let next = 0;
    const lane = async (number: number): Promise<void> => {
      const place = join(scratch, `lane-${number}`);
      mkdirSync(place);
      while (next < cases.length && faults.length === 0) {
        const some = cases.slice(next, next + (plan.hard ? 1 : BATCH));
        next += some.length;
        const all = await run(place, some, template, plan.hard);
        for (const [index, one] of some.entries()) {
          const mine = all[index] ?? [];
          if (mine.length === 0) continue; // one before it ended the process, which is a fault of that one
          const told = [...toldBefore(one.found, template), ...mine];
          const name = `${one.error} ${one.on ? 'from then on' : 'once'}`;
          const what = (mine.find(([word]) => word === 'hit')?.[2] ?? '').replace(/ \d+$/, ' (a folder above)');
          const wrong = plan.hard ? await judgeHard(place, told) : await judgeAt(place, index, told);
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
        rmSync(join(place, 'lives'), { recursive: true });
        done += some.length;
        plan.progress?.(done, cases.length);
      }
    };
    await Promise.all(Array.from({ length: LANES }, (_, number) => lane(number)));
    return { calls, rows, hits, faults };
  } finally {
    if (!plan.keep || faults.length === 0) rmSync(scratch, { recursive: true, force: true });
  }
}

const toldBefore = (found: Kind, { told }: Template): readonly Told[] =>
  found === 'a store that was killed' ? told : [];
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

interface Template {
  readonly folder: string;
  readonly told: readonly Told[];
}

const diskOf = (place: string): Disk => ({ folder: join(place, 'lives'), shadow: join(place, 'shadow') });
const storeAt = (place: string, index: number): string => join(place, 'lives', `${index}`, 'state', 'store');

/** A store as a killed process left it: all in its log, nothing closed. */
async function makeTemplate(scratch: string): Promise<Template> {
  const place = join(scratch, 'template');
  mkdirSync(place);
  const none: Template = { folder: '', told: [] };
  const [told = []] = await run(place, [{ at: 0, error: 'EIO', on: false, found: 'nothing' }], none, true);
  return { folder: storeAt(place, 0), told: told.filter(([word]) => word !== 'audit') };
}

/** Runs one process through these faults. Returns what each told. */
async function run(
  place: string,
  cases: readonly Case[],
  template: Template,
  hard: boolean,
): Promise<readonly (readonly Told[])[]> {
  const disk = diskOf(place);
  mkdirSync(disk.folder);
  const control = join(place, 'control');
  makeControl(control);
  const lives = cases.map(({ found, ...fault }, index): Life => {
    const folder = storeAt(place, index);
    mkdirSync(dirname(folder), { recursive: true });
    if (found === 'nothing') rmdirSync(dirname(folder));
    if (found === 'a store that was killed') cpSync(dirname(template.folder), dirname(folder), { recursive: true });
    return { ...fault, folder, life: found === 'a store that was killed' ? 2 : 1 };
  });
  if (hard) seal(disk);
  for (const [index, { found }] of cases.entries()) if (found === 'a new folder') mkdirSync(storeAt(place, index));
  const plan: Plan = { control, lives, closes: !hard };
  const preload = [buildShim('faults'), ...(hard ? [buildShim('powercut')] : [])].join(' ');
  const child = spawn(process.execPath, [join(import.meta.dirname, 'faulty.ts'), JSON.stringify(plan)], {
    env: {
      ...process.env,
      ...compiled,
      ...(hard ? environmentOf(disk, '') : {}),
      LD_PRELOAD: preload,
      FAULTS_ROOT: disk.folder,
      FAULTS_CONTROL: control,
    },
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
  return told;
}

async function judgeAt(place: string, index: number, told: readonly Told[]): Promise<string[]> {
  try {
    return [...(await judge(storeAt(place, index), told))];
  } catch (error) {
    return [`the store does not open: ${(error as Error).message}`];
  }
}

/** As the kill left it, then as the disk holds it. Copies: who looks writes. */
async function judgeHard(place: string, told: readonly Told[]): Promise<string[]> {
  const look = async (how: string): Promise<string[]> => {
    const copy = join(place, 'copy');
    try {
      const folder = storeAt(place, 0);
      cpSync(dirname(folder), copy, { recursive: true }); // with its sentinel
      return (await judge(join(copy, basename(folder)), told)).map((fault) => `${how}: ${fault}`);
    } catch (error) {
      return [`${how}: the store does not open: ${(error as Error).message}`];
    } finally {
      rmSync(copy, { recursive: true, force: true });
    }
  };
  const killed = await look('killed');
  if (killed.length > 0) return killed;
  cut(diskOf(place), 'synced', () => 0);
  return await look('after a power cut');
}
