/**
 * `npm run attack:captp [-- --only TEXT]`: the attack table in full size, against a vat in a process of its
 * own, over WebSockets.
 *
 * For each attack and dialect: what must come of it, what came, the longest CPU time that one frame and one
 * round of the event loop cost, what the host kept at most of what was looked at, what is left when all have
 * gone, and how often a bystander was served meanwhile. Exits 1 where an outcome is not listed, something of
 * the host leaked, a table was not empty or a bystander noticed. Over the limits of time and memory it says
 * so, and exits 1 only with `--strict`: other programs may have the machine.
 */

import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import { Command } from 'commander';
import type { DialectName } from '../src/captp/captp.ts';
import type { Attack } from './attack.ts';
import { attacks } from './rows/index.ts';
import { type Played, play } from './scene.ts';
import type { Figures } from './serve.ts';

const mostCpu = 50;
const budget = 64 << 20;
/** The difference between two heaps of V8 when nothing happened. */
const noise = 4 << 20;
/** For what hangs: without an outcome and without a look at the victim. A busy machine gets its time. */
const limitMs = 300_000;

const values = new Command('npm run attack:captp --')
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))
  .description('The attack table in full size, against a vat in a process of its own.')
  .option('--only <text>', 'attacks with TEXT in their name', '')
  .option('--strict', 'exits 1 over the limits of time and memory, too')
  .parse()
  .opts<{ only: string; strict?: boolean }>();

interface Victim {
  readonly port: number;
  ask(): Promise<Figures>;
  readonly child: ChildProcess;
}

async function open(): Promise<Victim> {
  const child = fork(join(import.meta.dirname, 'serve.ts'), [], {
    execArgv: [...process.execArgv, '--expose-gc'],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const next = <T>(): Promise<T> =>
    new Promise((resolve, reject) => {
      const died = (): void => reject(new Error('the victim died'));
      child.once('message', (message) => {
        child.off('exit', died);
        resolve(message as T);
      });
      child.once('exit', died);
    });
  const { port } = await next<{ port: number }>();
  return {
    child,
    port,
    ask: () => {
      const answer = next<Figures>();
      child.send('figures');
      return answer;
    },
  };
}

const mib = (bytes: number): string => `${(bytes / (1 << 20)).toFixed(1)}`;
const both: readonly DialectName[] = ['hob.1', 'captp'];
let victim = await open();
let failed = 0;
let slow = 0;
let worst = 0;

function row(...columns: readonly string[]): void {
  const [
    dialect = '',
    frame = '',
    loop = '',
    most = '',
    left = '',
    others = '',
    name = '',
    expected = '',
    outcome = '',
  ] = columns;
  process.stdout.write(
    `${dialect.padEnd(6)}${frame.padStart(7)}${loop.padStart(7)}${most.padStart(8)}${left.padStart(7)}${others.padStart(7)}  ${name}\n${' '.repeat(44)}expected ${expected}\n${' '.repeat(44)}came     ${outcome}\n`,
  );
}

async function one(attack: Attack, dialect: DialectName): Promise<void> {
  const before = (await victim.ask()).kept;
  let most = 0;
  let frame = 0;
  let loop = 0;
  const look = async (): Promise<Figures> => {
    const figures = await victim.ask();
    most = Math.max(most, figures.kept - before);
    frame = Math.max(frame, figures.frame);
    loop = Math.max(loop, figures.loop);
    return figures;
  };
  const hung = Promise.withResolvers<Played>();
  const nothing: Played = { outcomes: ['nothing'], faults: ['no end in sight'], others: 0 };
  const timer = setTimeout(() => hung.resolve(nothing), limitMs);
  const weigh = async (): Promise<void> => {
    await look();
    timer.refresh();
  };
  let played: Played;
  try {
    played = await Promise.race([play(attack, dialect, { port: victim.port, full: true, weigh }), hung.promise]);
  } catch (error) {
    played = { outcomes: ['nothing'], faults: [(error as Error).message], others: 0 };
  }
  clearTimeout(timer);
  const faults = [...played.faults];
  let left = 0;
  try {
    let after = await look();
    // Calls that arrived before the end are turns still to come: what they hold goes when they have had them.
    for (let i = 0; (after.open > 0 || after.kept - before > noise) && i < 200; i += 1) {
      await new Promise((wake) => setTimeout(wake, 50));
      after = await victim.ask();
    }
    left = after.kept - before;
    faults.push(...after.leftovers.map((line) => `left in a table: ${line}`));
    if (after.open > 0) faults.push(`${after.open} connections are open still`);
    // The attack goes on, and the next row would find its connections.
    if (played === nothing) throw new Error('a new victim takes its place');
  } catch (error) {
    faults.push((error as Error).message);
    victim.child.kill();
    victim = await open();
  }
  worst = Math.max(worst, frame);
  const notes: string[] = [];
  if (frame > mostCpu) notes.push(`a frame cost more than ${mostCpu} ms`);
  if (most > budget + noise) notes.push('more than its budget was kept');
  if (left > noise) notes.push('something stayed');
  row(
    dialect,
    frame.toFixed(1),
    loop.toFixed(1),
    mib(most),
    mib(Math.max(0, left)),
    String(played.others),
    attack.name,
    attack.expected.join(' | '),
    played.outcomes.join(' | ').slice(0, 300),
  );
  for (const note of notes) process.stdout.write(`${' '.repeat(44)}OVER     ${note}\n`);
  for (const fault of faults) process.stdout.write(`${' '.repeat(44)}FAILED   ${fault}\n`);
  if (notes.length > 0) slow += 1;
  if (faults.length > 0) failed += 1;
}

row('', 'frame', 'loop', 'kept', 'left', 'others', 'attack');
row('', 'ms', 'ms', 'MiB', 'MiB', 'calls', '');
let count = 0;
for (const dialect of both)
  for (const attack of attacks)
    if ((attack.dialects ?? both).includes(dialect) && attack.name.includes(values.only)) {
      count += 1;
      await one(attack, dialect);
    }
process.stdout.write(
  `${count} attacks: ${failed} failed, ${slow} over a limit of time or memory; the longest frame took ${worst.toFixed(1)} ms of CPU\n`,
);
if (failed > 0 || (values.strict && slow > 0)) process.exitCode = 1;
victim.child.disconnect();
