/**
 * `npm run attack:shell [-- --verbose] [--as root|user]`: every attack under plain bash and in the sandbox,
 * as root and as a user. With `--vm`: the attacks on limits of a cgroup instead, in a virtual machine
 * (`vm.ts`).
 *
 * Exits 1 if an attack gets through, a benign command fails, or fewer than 95 % of the attacks work outside.
 */
import { Command } from 'commander';
import { playAll } from './suite.ts';
import { runInVm } from './vm.ts';

const values = new Command('npm run attack:shell --')
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))
  .description('Every attack under plain bash and in the sandbox.')
  .option('--verbose', 'says what each does')
  .option('--vm', 'the attacks on limits of a cgroup, in a virtual machine')
  .option('--as <who>', 'root or user')
  .parse()
  .opts<{ verbose?: boolean; vm?: boolean; as?: string }>();
if (values.vm) process.exit(runInVm((text) => process.stdout.write(text)) ? 0 : 1);
const names = values.as
  ? [values.as as 'root' | 'user']
  : process.getuid?.() === 0
    ? (['root', 'user'] as const)
    : (['user'] as const);
let good = true;
for (const name of names) {
  const figures = await playAll(name, undefined, values.verbose ? console.log : undefined);
  const { attacks, real, unreal, escapes, exposures, limitsLost, benign, benignFailures, benignOutside } = figures;
  console.log(
    `as ${name}: ${attacks} attacks, ${real} of them real (${((100 * real) / attacks).toFixed(1)} %): ` +
      `${escapes.length} escapes, ${exposures.length} exposures, ${limitsLost.length} limits lost; ` +
      `${benign} benign commands, ${benignFailures.length} fail`,
  );
  const lists = { escapes, exposures, limitsLost, benignFailures, 'not even outside': [...unreal, ...benignOutside] };
  for (const [what, list] of Object.entries(lists)) for (const each of list) console.log(`  ${what}: ${each}`);
  if (escapes.length + exposures.length + limitsLost.length + benignFailures.length > 0 || real < 0.95 * attacks)
    good = false;
}
process.exitCode = good ? 0 : 1;
