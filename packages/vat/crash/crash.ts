/**
 * Kills a subject at random moments, again and again, and checks what it left: the store's own promise, put
 * to the test.
 *
 * Two ways. `kill`: kill -9; the kernel still writes all that the process had written. `power`: what the kill
 * left is checked, then the disk is put back to what it would hold had the power failed (`powercut.ts`), and
 * is checked again; only this one notices a commit that is not synced.
 *
 * A store lives through several cuts, so that recovery of a recovered store is tested too; then comes a new
 * one, since only a new one has names that the disk may not know yet. What is checked is a copy: the next
 * life meets the disk as it was cut.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { compiled, warmUp } from './compiled.ts';
import { type Chance, type CutKind, cut, type Disk, environmentOf, seal } from './powercut.ts';
import { buildShim } from './shim.ts';
import type { Subject, Told } from './subjects/subject.ts';

export interface Storm {
  readonly subject: string;
  readonly mode: 'kill' | 'power';
  readonly cuts: number;
  /**
   * Decides when to kill and what the disk keeps. Moments are the machine's own, so a run is repeated in kind
   * only.
   */
  readonly seed: number;
  /** The files of a failure are kept, and their place is printed. */
  readonly keep?: boolean;
  readonly progress?: (cuts: number) => void;
}

export interface Toll {
  /** Deaths whose store was checked as the process left it. */
  readonly kills: number;
  /** Power cuts whose store was checked as the disk held it. */
  readonly cuts: number;
  /** How many deaths hit the process before its store was open. */
  readonly early: number;
  readonly stores: number;
  /** The reports of the subjects, by word. */
  readonly told: Readonly<Record<string, number>>;
  /** The faults that were found. The storm ends with the first cut that leaves something wrong. */
  readonly faults: readonly string[];
}

const LANES = 2;
const LONGEST_STORE = 12; // lives
/** A process that says nothing for so long hangs. */
const SILENCE_MS = 20_000;

export async function storm(plan: Storm): Promise<Toll> {
  const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'hob-crash-')));
  const { subject }: { subject: Subject } = await import(`./subjects/${plan.subject}.ts`);
  const shim = plan.mode === 'power' ? buildShim('powercut') : undefined;
  await warmUp(plan.subject);
  const toll = { kills: 0, cuts: 0, early: 0, stores: 0, told: {} as Record<string, number>, faults: [] as string[] };
  let begun = 0;

  const lane = async (number: number): Promise<void> => {
    const chance = chanceFrom(`${plan.seed}:${number}`);
    while (begun < plan.cuts && toll.faults.length === 0) {
      const place = join(scratch, `store-${(toll.stores += 1)}`);
      const disk: Disk = { folder: join(place, 'disk'), shadow: join(place, 'shadow') };
      mkdirSync(disk.folder, { recursive: true });
      seal(disk);
      // Below folders that are still to be made: their names have to reach the disk, too.
      const folder = join(disk.folder, 'state', 'store');
      // Or that are made, but no disk knows it yet: as a process leaves them that was killed between mkdir
      // and fsync.
      const found = chance(3);
      if (found > 0) mkdirSync(join(disk.folder, 'state'));
      if (found > 1) {
        seal(disk);
        mkdirSync(folder);
      }
      const told: Told[] = [];
      const lives = 1 + chance(LONGEST_STORE);
      for (let life = 1; life <= lives && begun < plan.cuts && toll.faults.length === 0; life += 1) {
        // A process that was only killed leaves to the next one what the disk does not know yet.
        const kind: CutKind | undefined =
          shim === undefined ? undefined : ([undefined, 'synced', 'synced', 'mixed', 'mixed'] as const)[chance(5)];
        if (shim === undefined || kind !== undefined) begun += 1;
        const ended = await live(
          plan.subject,
          folder,
          life,
          shim === undefined ? undefined : environmentOf(disk, shim),
          chance,
          told,
        );
        if (!ended.opened) toll.early += 1;
        const check = async (how: string): Promise<void> => {
          const faults = await judge(subject, folder, join(place, 'copy'), told);
          toll.faults.push(...faults.slice(0, 5).map((fault) => `seed ${plan.seed}, life ${life}, ${how}: ${fault}`));
        };
        if (ended.fault !== undefined) toll.faults.push(`seed ${plan.seed}, life ${life}: ${ended.fault}`);
        else await check('kill');
        toll.kills += 1;
        if (kind !== undefined && toll.faults.length === 0) {
          cut(disk, kind, chance);
          await check(`power cut (${kind})`);
          toll.cuts += 1;
        }
        if (toll.faults.length === 0) {
          if (shim === undefined || kind !== undefined) plan.progress?.(shim === undefined ? toll.kills : toll.cuts);
        } else if (plan.keep) toll.faults.push(`kept in ${place}`);
      }
      for (const { word } of told) toll.told[word] = (toll.told[word] ?? 0) + 1;
      if (!plan.keep || toll.faults.length === 0) rmSync(place, { recursive: true });
    }
  };

  try {
    await Promise.all(Array.from({ length: LANES }, (_, number) => lane(number)));
  } finally {
    if (!plan.keep || toll.faults.length === 0) rmSync(scratch, { recursive: true, force: true });
  }
  return toll;
}

interface End {
  readonly opened: boolean;
  /** It died before it was killed, or hung. */
  readonly fault?: string;
}

/** Runs one life up to its kill. What it told is added to `told`. */
async function live(
  name: string,
  folder: string,
  life: number,
  environment: Record<string, string> | undefined,
  chance: Chance,
  told: Told[],
): Promise<End> {
  const child: ChildProcess = spawn(
    process.execPath,
    [join(import.meta.dirname, 'child.ts'), name, folder, `${life}`],
    {
      env: { ...process.env, ...compiled, ...environment },
      stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
    },
  );
  let text = '';
  let complaint = '';
  const timers: NodeJS.Timeout[] = [];
  const killIn = (ms: number): void => {
    timers.push(setTimeout(() => child.kill('SIGKILL'), ms));
  };
  // One in six dies while it makes or recovers its store; the others at work, a few of them after a longer
  // day, and most once something was acknowledged, however slow the machine is.
  let wait =
    chance(6) === 0
      ? { word: 'up', ms: chance(15) }
      : { word: chance(4) === 0 ? 'open' : 'acknowledged', ms: chance(chance(4) === 0 ? 300 : 40) };
  killIn(SILENCE_MS);
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    complaint = (complaint + chunk).slice(-2000);
  });
  (child.stdio[3] as NodeJS.ReadableStream).setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
    if (!text.startsWith(`${wait.word} `) && !text.includes(`\n${wait.word} `)) return;
    killIn(wait.ms);
    wait = { word: 'never', ms: 0 };
  });
  const signal = await new Promise((resolve) => child.once('close', (_code, by) => resolve(by)));
  for (const timer of timers) clearTimeout(timer);
  // Each line was one write, which is whole or not there.
  const heard = text.split('\n').slice(0, -1);
  for (const line of heard) {
    const [word = '', which = ''] = line.split(' ');
    if (word !== 'up') told.push({ word, which: Number(which), life });
  }
  const opened = heard.includes('open 0');
  if (signal !== 'SIGKILL') return { opened, fault: `it ended by itself: ${complaint.trim()}` };
  if (wait.word !== 'never') return { opened, fault: `it was silent for ${SILENCE_MS / 1000} s: ${complaint.trim()}` };
  return { opened };
}

async function judge(
  subject: Subject,
  folder: string,
  copy: string,
  told: readonly Told[],
): Promise<readonly string[]> {
  try {
    // With its sentinel, which is beside it.
    const above = dirname(folder);
    if (existsSync(above)) cpSync(above, copy, { recursive: true });
    return await subject.check(join(copy, basename(folder)), told);
  } catch (error) {
    return [`the store does not open: ${(error as Error).message}`];
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

/** Whole numbers below a bound, from a seed. */
export function chanceFrom(seed: string): Chance {
  let [drawn, pool, at] = [0, Buffer.alloc(0), 0];
  return (below) => {
    if (at === pool.length) {
      pool = createHash('sha512')
        .update(`${seed}:${(drawn += 1)}`)
        .digest();
      at = 0;
    }
    const number = pool.readUInt32BE(at);
    at += 4;
    return number % below;
  };
}
