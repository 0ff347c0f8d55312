/**
 * `npm run attack:fs [-- --attempts N --control N --only TEXT --cell NAME --backend proc|native --json FILE
 * --minutes N --kills N]`: the race against every operation, with the attacker in C on a core of its own;
 * with `--kills`, `kill -9` in the middle of writing instead.
 *
 * With `--minutes` it is made in pieces of 250,000 until each cell has N attempts in FILE, those of earlier
 * runs counted, or the time is over.
 *
 * One line a cell: attempts, escapes, and what else came out. The same attack is run against
 * realpath-then-open: where it finds no way out of that, or where no attempt on the cap came through, the
 * cell proves nothing. Exits 1 for an escape, and for a cell that proves nothing.
 */

import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { Command } from 'commander';
import { type Backend, backends, lacks } from '../test/backends.ts';
import { compile, coreForAttacker } from './arena.ts';
import { cells } from './cells/index.ts';
import { killWrites } from './kill.ts';
import { type Result, race, type Victim } from './race.ts';

const values = new Command('npm run attack:fs --')
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))
  .description('The race against every operation of a directory.')
  .option('--attempts <n>', 'for each cell', '1000000')
  .option('--control <n>', 'against realpath-then-open', '20000')
  .option('--only <text>', 'cells with TEXT in their name', '')
  .option('--cell <name>', 'one cell')
  .option('--backend <name>', 'proc or native')
  .option('--json <file>', 'appends the figures to FILE')
  .option('--minutes <n>', 'in pieces, until the time is over')
  .option('--kills <n>', 'kill -9 in the middle of writing instead')
  .parse()
  .opts<{
    attempts: string;
    control: string;
    only: string;
    cell?: string;
    backend?: string;
    json?: string;
    minutes?: string;
    kills?: string;
  }>();
const chosen = cells.filter(({ name }) =>
  values.cell === undefined ? name.includes(values.only) : name === values.cell,
);
const present: Backend[] = [];
for (const backend of backends) {
  if (values.backend !== undefined && values.backend !== backend) continue;
  const lacking = await lacks(backend);
  if (lacking === undefined) present.push(backend);
  else process.stderr.write(`left out: ${lacking}\n`);
}

if ((await (values.kills === undefined ? raceAll() : killAll(Number(values.kills)))) > 0) process.exitCode = 1;
// The channel to npm's process would keep us here.
if (process.connected) process.disconnect();

async function raceAll(): Promise<number> {
  using attacker = compile();
  const core = coreForAttacker(attacker.program);
  if (core < 0) process.stderr.write('one core only: the attacker will find less than it could\n');
  let failed = 0;
  let total = 0;
  write('cell', 'victim', 'attempts', 'escapes', 'swaps', 's', 'outcomes');
  for (const cell of chosen) {
    for (const victim of ['realpath-then-open', ...present] as Victim[]) {
      for (const attempts of pieces(cell.name, victim)) {
        const result = await race(cell, victim, { program: attacker.program, core, attempts });
        tell(result);
        const fault = faultOf(result);
        if (victim !== 'realpath-then-open') total += result.attempts;
        if (result.escapes > 0 && victim !== 'realpath-then-open') failed += 1;
        if (fault === undefined) continue;
        failed += 1;
        process.stdout.write(`  FAILED: ${fault}, so the cell proves nothing\n`);
      }
    }
  }
  process.stdout.write(
    `${chosen.length} cells, ${total} attempts on the cap, ${failed === 0 ? '0 escapes' : `${failed} FAILED`}\n`,
  );
  return failed;
}

function faultOf({ victim, escapes, outcomes }: Result): string | undefined {
  if (victim === 'realpath-then-open') return escapes > 0 ? undefined : 'no way out of realpath-then-open was found';
  return (outcomes.get('ok') ?? 0) > 0 ? undefined : 'no attempt came through';
}

/** How many attempts at once, until there are as many as were asked for. */
function* pieces(cell: string, victim: Victim): Generator<number> {
  const isControl = victim === 'realpath-then-open';
  if (values.minutes === undefined) return yield Number(isControl ? values.control : values.attempts);
  const isMissing = (one: Victim): boolean => made(cell, one) < Number(values.attempts);
  const isOver = (): boolean => performance.now() > Number(values.minutes) * 60_000;
  if (isOver() || !present.some(isMissing)) return;
  if (isControl) return yield Number(values.control);
  while (isMissing(victim) && !isOver()) yield Math.min(250_000, Number(values.attempts) - made(cell, victim));
}

/** In the file, by this run and earlier ones. */
function made(cell: string, victim: Victim): number {
  if (values.json === undefined) throw new Error('--minutes needs --json FILE, where the attempts are counted');
  if (!existsSync(values.json)) return 0;
  const lines = readFileSync(values.json, 'utf8').trim().split('\n');
  return lines
    .map((line) => JSON.parse(line) as Pick<Result, 'cell' | 'victim' | 'attempts'>)
    .reduce((sum, one) => sum + (one.cell === cell && one.victim === victim ? one.attempts : 0), 0);
}

async function killAll(kills: number): Promise<number> {
  let failed = 0;
  for (const backend of present) {
    const { reads, partial, strays, listed } = await killWrites(backend, kills);
    process.stdout.write(
      `${backend}: ${kills} kills, ${reads} reads, ${partial.length} partial, ${strays} unfinished files left, ${listed} of them listed\n`,
    );
    for (const one of partial.slice(0, 10)) process.stdout.write(`  PARTIAL ${one}\n`);
    failed += partial.length + listed;
  }
  return failed;
}

function tell({ cell, victim, attempts, calls, through, escapes, swaps, seconds, outcomes }: Result): void {
  const came = [...outcomes].sort(([, a], [, b]) => b - a).map(([outcome, count]) => `${outcome} ${count}`);
  write(
    cell,
    victim,
    String(attempts),
    String(escapes),
    String(swaps),
    seconds.toFixed(1),
    came.join(', ').slice(0, 120),
  );
  if (values.json !== undefined) {
    const line = {
      cell,
      victim,
      attempts,
      calls,
      through,
      escapes,
      swaps,
      seconds,
      outcomes: Object.fromEntries(outcomes),
    };
    appendFileSync(values.json, `${JSON.stringify(line)}\n`);
  }
}

function write(cell: string, victim: string, ...rest: readonly [string, string, string, string, string]): void {
  const [attempts, escapes, swaps, seconds, outcomes] = rest;
  process.stdout.write(
    `${cell.padEnd(40)}${victim.padEnd(20)}${attempts.padStart(9)}${escapes.padStart(9)}${swaps.padStart(11)}${seconds.padStart(6)}  ${outcomes}\n`,
  );
}
