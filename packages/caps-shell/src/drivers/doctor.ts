/**
 * `npm run doctor`: what works here, what does not, and what to do about it.
 *
 * Promise: exits 0 only if a program can be confined here. Builds the sandbox first if it is missing or of other sources.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { probe } from './probe.ts';
import { BUILT } from './sandbox.ts';

const say = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

say('confining programs (caps-shell):');
if (process.platform === 'linux') {
  const made = spawnSync(process.execPath, [join(import.meta.dirname, '..', '..', 'sandbox', 'build.mjs'), BUILT], {
    encoding: 'utf8',
  });
  if (made.status !== 0) say(`  the sandbox could not be built: ${lastLine(made.stderr)}`);
}
const { ok, layers } = await probe();
for (const { name, ok, errno, remedy } of layers) {
  say(`  ${ok ? 'ok      ' : 'MISSING '}${name}${errno === undefined ? '' : ` (${errno})`}`);
  if (remedy !== undefined) say(`          ${remedy}`);
}
say(ok ? 'programs can be confined here' : 'no program will run here: nothing ever runs unconfined');
process.exitCode = ok ? 0 : 1;

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1) || 'no C compiler (cc); on Debian and Ubuntu: apt install gcc libc6-dev';
}
