/** Replaces the file `f` for ever, with 1 MiB of one letter each time; to be killed in the middle. */
import { openFsCap } from '../src/index.ts';

const cap = await openFsCap(process.argv[2] ?? '');
process.send?.('ready');
for (let round = 0; ; round++) {
  await cap.write('f', String.fromCharCode(97 + (round % 26)).repeat(1024 * 1024));
}
