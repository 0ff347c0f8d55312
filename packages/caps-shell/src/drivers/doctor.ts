#!/usr/bin/env node
/**
 * `npm run doctor`, or `npx hob-doctor` where it is installed: says what works on this machine, what
 * does not, and what to do about it.
 *
 * Exits 0 only if a program can be confined here. Builds the sandbox program first where none came with the package, or
 * the one that was built is out of date.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { probe } from './probe.ts';
import { BUILT, isPrebuilt } from './program.ts';

/** The version of this package. A test compares it with `package.json`. */
const version = '0.1.0';

new Command(process.env['npm_lifecycle_event'] === 'doctor' ? 'npm run doctor --' : 'hob-doctor')
  .description('Says what works on this machine, and what to do about what does not.')
  .version(`hob ${version}`, '--version', 'prints the version')
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))
  .parse();

/** The sources of the sandbox program, and what builds it. */
const SANDBOX = new URL('../../sandbox/', import.meta.url);

const say = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

say('confining programs (caps-shell):');
if (process.platform === 'linux' && !isPrebuilt()) {
  const made = spawnSync(process.execPath, [fileURLToPath(new URL('build.mjs', SANDBOX)), BUILT], {
    encoding: 'utf8',
  });
  // That there is no compiler is said below, by the layer that lacks its program.
  if (made.status !== 0 && lastLine(made.stderr) !== 'no C compiler (cc)')
    say(`  the sandbox could not be built: ${lastLine(made.stderr)}`);
}
const { ok, layers } = await probe();
for (const { name, ok, errno, remedy } of layers) {
  say(`  ${ok ? 'ok      ' : 'MISSING '}${name}${errno === undefined ? '' : ` (${errno})`}`);
  if (remedy !== undefined) say(`          ${remedy}`);
}
say(ok ? 'programs can be confined here' : 'no program will run here: nothing ever runs unconfined');
process.exitCode = ok ? 0 : 1;

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1) ?? '';
}
