/**
 * Kills a program (the subject) at random moments, again and again, and checks the store that it leaves.
 *
 * There are two modes.
 *
 * - `kill`: the program is killed by kill -9. The kernel still writes all that the program had written.
 * - `power`: the power fails too. A folder is checked as the kill left it. Then it is put back to what the disk would
 *   hold (`powercut.ts`), and is checked again. Only this notices a commit that was not synced. With a database, all
 *   processes of the server are killed together with the program, and the server is started again. Only this notices a
 *   commit that the server had in its memory alone.
 *
 * One store is used for several deaths, so recovery of a recovered store is tested too. Then comes a new store, because
 * only a new one has names that the disk may not know yet. The checks read a copy, so they do not change the store.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compiled, warmUp } from './compiled.ts';
import type { Death, Ground, Grounds, Site, Wanted } from './ground.ts';
import type { Chance } from './powercut.ts';
import type { Subject, Told } from './subjects/subject.ts';

export interface Storm {
  readonly subject: string;
  readonly mode: Wanted['mode'];
  readonly grounds: Grounds;
  readonly cuts: number;
  /**
   * Decides when to kill and what the disk keeps. The speed of the machine also matters, so no run is repeated exactly.
   */
  readonly seed: number;
  /** Keeps the files of a failure, and prints where they are. */
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
/** A process that prints nothing for this time hangs. */
const SILENCE_MS = 20_000;

export async function storm(plan: Storm): Promise<Toll> {
  const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'hob-crash-')));
  const { subject }: { subject: Subject } = await import(`./subjects/${plan.subject}.ts`);
  await warmUp(plan.subject);
  const toll = { kills: 0, cuts: 0, early: 0, stores: 0, told: {} as Record<string, number>, faults: [] as string[] };
  let begun = 0;

  /** One store, which lives through several deaths. */
  const store = async (ground: Ground, site: Site, chance: Chance): Promise<void> => {
    const told: Told[] = [];
    const lives = 1 + chance(LONGEST_STORE);
    for (let life = 1; life <= lives && begun < plan.cuts && toll.faults.length === 0; life += 1) {
      // In the mode `power` some processes are only killed. The next one finds data that the disk does not know yet.
      const death = site.death();
      const counts = plan.mode === 'kill' || death.isCut;
      if (counts) begun += 1;
      const ended = await live({ ...{ name: plan.subject, life, told, chance }, ground, site, death });
      if (!ended.opened) toll.early += 1;
      toll.kills += 1;
      if (ended.fault !== undefined) toll.faults.push(`seed ${plan.seed}, life ${life}: ${ended.fault}`);
      for await (const how of death.remains()) {
        if (toll.faults.length > 0) break;
        const faults = await judge(subject, site, told);
        toll.faults.push(...faults.slice(0, 5).map((fault) => `seed ${plan.seed}, life ${life}, ${how}: ${fault}`));
      }
      if (toll.faults.length > 0) {
        if (plan.keep && site.kept !== undefined) toll.faults.push(`kept in ${site.kept}`);
        break;
      }
      if (death.isCut) toll.cuts += 1;
      if (counts) plan.progress?.(plan.mode === 'kill' ? toll.kills : toll.cuts);
    }
    for (const { word } of told) toll.told[word] = (toll.told[word] ?? 0) + 1;
  };
  const lane = async (number: number): Promise<void> => {
    const chance = chanceFrom(`${plan.seed}:${number}`);
    const ground = await plan.grounds({ mode: plan.mode, scratch, chance });
    try {
      while (begun < plan.cuts && toll.faults.length === 0) {
        const site = await ground.next((toll.stores += 1));
        await store(ground, site, chance);
        if (!plan.keep || toll.faults.length === 0) await site.remove();
      }
    } finally {
      await ground.close();
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

interface Life {
  /** Of the subject. */
  readonly name: string;
  readonly life: number;
  readonly told: Told[];
  readonly chance: Chance;
  readonly ground: Ground;
  readonly site: Site;
  readonly death: Death;
}

/** Runs one life up to its death. What it told is added to `told`. */
async function live({ name, life, told, chance, ground, site, death }: Life): Promise<End> {
  const child: ChildProcess = spawn(
    process.execPath,
    [join(import.meta.dirname, 'child.ts'), name, JSON.stringify(site.place), `${life}`],
    {
      env: { ...process.env, ...compiled, ...site.environment },
      stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
    },
  );
  let text = '';
  let complaint = '';
  const timers: NodeJS.Timeout[] = [];
  const killIn = (ms: number): void => {
    timers.push(setTimeout(() => death.strike(child), ms));
  };
  // One in six dies while it makes or recovers its store; the others at work, a few of them after a longer
  // day, and most once something was acknowledged, however slow the machine is.
  let wait =
    chance(6) === 0
      ? { word: 'up', ms: chance(ground.openingMs) }
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

async function judge(subject: Subject, site: Site, told: readonly Told[]): Promise<readonly string[]> {
  try {
    return await site.copied((copy) => subject.check(copy, told));
  } catch (error) {
    return [`the store does not open: ${(error as Error).message}`];
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
