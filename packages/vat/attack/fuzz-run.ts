/**
 * `npm run fuzz:captp -- --seconds 600 --seed N [--one]`: conversations made by chance, one for each seed from N on.
 *
 * Prints the seed of what fails and the shortest conversation that still fails so; exits 1 then. `--one` runs seed N alone.
 */
import { parseArgs } from 'node:util';
import { conversation, Fuzzer, shown, shrunk } from './fuzz.ts';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    seed: { type: 'string' },
    one: { type: 'boolean', default: false },
  },
});
const first = Number(values.seed ?? Date.now() % 1_000_000_000);
const seconds = Number(values.seconds);
if (!Number.isSafeInteger(first) || !(seconds > 0)) {
  process.stderr.write('hob: --seed is a whole number, --seconds a number\n');
  process.exit(2);
}
const say = (line: string): void => void process.stdout.write(`${line}\n`);
say(`seed ${first}`);
const fuzzer = await Fuzzer.open();
fuzzer.listen();
const until = performance.now() + seconds * 1000;
const kinds = new Set<string>();
let count = 0;
let frames = 0;
let closed = 0;
let longest = 0;
for (let seed = first; performance.now() < until && kinds.size < 10; seed += 1) {
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
    const kind = verdict.fault.split('\n')[0]?.replace(/\d+/g, 'N') as string;
    if (!kinds.has(kind)) {
      kinds.add(kind);
      say(`FAILED  seed ${seed}: ${verdict.fault}`);
      const { dialect, limits, meter } = talk;
      say(shown(await shrunk(fuzzer, { dialect, limits, meter, steps: verdict.steps }, verdict.fault)));
    }
  }
  if (values.one) break;
}
say(
  `${count} conversations, ${frames} frames: ${closed} closed with a reason, ${count - closed} served to the end, ${kinds.size} kinds of fault; the longest frame took ${longest.toFixed(1)} ms of CPU`,
);
process.exit(kinds.size > 0 ? 1 : 0);
