/**
 * `npm run fuzz:captp -- --minutes 10 --seed N [--one] [--kind model|frames]`: conversations made by chance,
 * one of each kind for each seed from N on.
 *
 * `frames`: frames that are nearly right, and bent ones. `model`: peers that keep to the rules and vanish,
 * over a store on the disk. Prints the seed of what fails and the shortest conversation that still fails so;
 * exits 1 then. `--one` runs seed N alone.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { conversation, Fuzzer, shown, shrunk } from './fuzz.ts';
import { ModelFuzzer } from './model.ts';

const values = new Command('npm run fuzz:captp --')
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))
  .description('Conversations made by chance.')
  .option('--seconds <n>', 'how long')
  .option('--minutes <n>', 'how long', '1')
  .option('--kind <kind>', 'model, frames or both', 'both')
  .option('--seed <n>', 'the first seed')
  .option('--one', 'that seed alone')
  .parse()
  .opts<{ seconds?: string; minutes: string; kind: string; seed?: string; one?: boolean }>();
const first = Number(values.seed ?? Date.now() % 1_000_000_000);
const seconds = Number(values.seconds ?? Number(values.minutes) * 60);
if (!Number.isSafeInteger(first) || !(seconds > 0) || !['both', 'model', 'frames'].includes(values.kind)) {
  process.stderr.write(
    'hob: --seed is a whole number, --minutes and --seconds are numbers, --kind is model or frames\n',
  );
  process.exit(2);
}
const say = (line: string): void => void process.stdout.write(`${line}\n`);
say(`seed ${first}`);
const folder = mkdtempSync(join(tmpdir(), 'hob-fuzz-'));
const fuzzer = await Fuzzer.open();
const model = await ModelFuzzer.open(folder);
// One after the other: an uncaught error belongs to the conversation that runs.
if (values.kind === 'model') model.listen();
else fuzzer.listen();
const until = performance.now() + seconds * 1000;
const kinds = new Set<string>();
let count = 0;
let frames = 0;
let closed = 0;
let longest = 0;
const modelled = { count: 0, frames: 0, vanished: 0 };
const failed = (seed: number, fault: string): boolean => {
  const kind = fault.split('\n')[0]?.replace(/\d+/g, 'N') as string;
  if (kinds.has(kind)) return false;
  kinds.add(kind);
  say(`FAILED  seed ${seed}: ${fault}`);
  return true;
};
for (let seed = first; performance.now() < until && kinds.size < 10; seed += 1) {
  if (values.kind !== 'frames') {
    const { frames, vanished, faults } = await model.run(seed);
    modelled.count += 1;
    modelled.frames += frames;
    modelled.vanished += vanished;
    for (const fault of faults) failed(seed, `model: ${fault}`);
    if (modelled.count % 5000 === 0)
      say(`  ${modelled.count} conversations by the rules, ${modelled.frames} frames, at seed ${seed}`);
    if (values.kind === 'model') {
      if (values.one) break;
      continue;
    }
  }
  const talk = conversation(seed);
  const verdict = await fuzzer.run(talk);
  count += 1;
  frames += verdict.steps.length;
  if (verdict.closed !== undefined) closed += 1;
  if (verdict.longest > longest) {
    longest = verdict.longest;
    if (longest > 50) say(`seed ${seed}: a frame took ${longest.toFixed(1)} ms of CPU`);
  }
  if (count % 20_000 === 0) say(`  ${count} conversations, ${frames} frames, at seed ${seed}`);
  if (verdict.fault !== undefined) {
    if (failed(seed, verdict.fault)) {
      const { dialect, limits, meter } = talk;
      say(shown(await shrunk(fuzzer, { dialect, limits, meter, steps: verdict.steps }, verdict.fault)));
    }
  }
  if (values.one) break;
}
say(
  `${count} conversations, ${frames} frames: ${closed} closed with a reason, ${count - closed} served to the end, ${kinds.size} kinds of fault; the longest frame took ${longest.toFixed(1)} ms of CPU`,
);
say(
  `by the rules: ${modelled.count} conversations of two peers, ${modelled.frames} frames, ${modelled.vanished} peers vanished in the middle`,
);
// The store's thread keeps nobody waiting by itself.
const stay = setInterval(() => {}, 1000);
await model.close();
clearInterval(stay);
rmSync(folder, { recursive: true, force: true });
process.exit(kinds.size > 0 ? 1 : 0);
