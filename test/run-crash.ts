/**
 * `npm run crash -- --cuts N [--mode kill|power] [--seed S] [--subject NAME]`: durability, with kill -9 and
 * power cuts in it. `npm run crash -- --faults [--every N]`: the same with a disk that says EIO or ENOSPC, at
 * each call in turn, or each N-th. With `--engine postgres` both are done to a store in a PostgreSQL server.
 *
 * Without `--mode` it does N of each, apart. Exits 0 only if nothing acknowledged was lost and nothing left
 * before its commit. What failed is kept for a look.
 */
import { Command } from 'commander';
import { type Storm, storm } from '../packages/vat/crash/crash.ts';
import { inject } from '../packages/vat/crash/faults.ts';
import { faultGrounds } from './crash/fault-grounds.ts';
import { grounds } from './crash/grounds.ts';

/** An error before the first kill is the caller's to mend: one line, no stack. */
const giveUp = (error: unknown): never => {
  process.stderr.write(`hob: ${(error as Error).message}\n`);
  process.exit(2);
};
process.on('uncaughtException', giveUp);

const values = new Command('npm run crash --')
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))
  .description('Durability, with kill -9, power cuts and failing disks.')
  .option('--cuts <n>', 'how many kills and power cuts', '100')
  .option('--faults', 'a disk or a server that says no instead, at each call in turn')
  .option('--every <n>', 'with --faults: at each N-th call', '1')
  .option('--mode <mode>', 'kill or power; without it, both')
  .option('--seed <n>', 'repeats an earlier run')
  .option('--engine <name>', 'sqlite or postgres: where the stores lie', 'sqlite')
  .option('--subject <name>', 'what is stored', 'ledger')
  .parse()
  .opts<{
    cuts: string;
    faults?: boolean;
    every: string;
    mode?: string;
    seed?: string;
    engine: string;
    subject: string;
  }>();
const engine = values.engine as keyof typeof grounds;
const cuts = Number(values.cuts);
const every = Number(values.every);
const seed = Number(values.seed ?? Date.now() % 1_000_000);
const modes = (values.mode === undefined ? ['kill', 'power'] : [values.mode]) as Storm['mode'][];
if (
  !(
    Number.isInteger(cuts) &&
    cuts > 0 &&
    Number.isInteger(seed) &&
    Number.isInteger(every) &&
    every > 0 &&
    Object.hasOwn(grounds, engine) &&
    modes.every((mode) => /^(?:kill|power)$/.test(mode))
  )
) {
  process.stderr.write(
    'hob: --cuts, --seed and --every are whole numbers, --mode is kill or power, --engine is sqlite or postgres\n',
  );
  process.exit(2);
}

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const secondsSince = (began: number): string => `${Math.round((Date.now() - began) / 1000)} s`;
if (values.faults) await injectAll();
else await stormAll();

async function injectAll(): Promise<void> {
  for (const hard of [false, true]) {
    const began = Date.now();
    say(hard ? 'each in a process that is killed, then the power fails' : 'processes that close their stores');
    const progress = (done: number, all: number): false | void => done % 240 === 0 && say(`  ${done} of ${all}`);
    const { calls, rows, hits, faults } = await inject({
      grounds: faultGrounds[engine],
      hard,
      every,
      keep: true,
      progress,
    });
    for (const [store, count] of Object.entries(calls)) say(`${count} calls on ${store}`);
    for (const [name, row] of Object.entries(rows)) {
      const words = Object.entries(row).map(([word, count]) => `${word} ${count}`);
      say(`${name}: ${words.join(', ')}`);
    }
    for (const [what, count] of Object.entries(hits).sort()) say(`  ${count} at ${what}`);
    for (const fault of faults) say(`FAILED  ${fault}`);
    say(secondsSince(began));
    if (faults.length > 0) process.exitCode = 1;
  }
}

async function stormAll(): Promise<void> {
  say(`subject ${values.subject}, seed ${seed}`);
  for (const mode of modes) {
    const began = Date.now();
    const { told, faults, ...toll } = await storm({
      subject: values.subject,
      grounds: grounds[engine],
      mode,
      cuts,
      seed,
      keep: true,
      progress: (done) => done % 100 === 0 && say(`  ${done}`),
    });
    const { open: _, ...heard } = told;
    const words = Object.entries(heard).map(([word, count]) => `${count} ${word}`);
    say(
      `${mode}: ${toll.kills} kills, ${toll.cuts} power cuts (${toll.early} deaths before the store was open), ${toll.stores} stores, ${words.join(', ')}; ${secondsSince(began)}`,
    );
    for (const fault of faults) say(`FAILED  ${fault}`);
    if (faults.length === 0) say('  no acknowledged turn lost, no effect without its line, every ledger verifies');
    else process.exitCode = 1;
  }
}
