/**
 * The attacker: exchanges a directory and a file of the root with links to outside, as fast as it can, in its
 * own process (on the victim's core it would find almost nothing: 500 in a million against 239,400 on its
 * own).
 */
import fs from 'node:fs';
import path from 'node:path';

const root = process.argv[2] ?? '';
const at = (name: string): string => path.join(root, name);
const turn = (real: string, link: string): void => {
  fs.renameSync(at(real), at(`${real}.away`));
  fs.renameSync(at(link), at(real));
  fs.renameSync(at(real), at(link));
  fs.renameSync(at(`${real}.away`), at(real));
};
process.send?.('ready');
let swaps = 0;
process.on('message', () => {
  process.send?.({ swaps });
  process.disconnect();
});
const round = (): void => {
  for (let i = 0; i < 200; i++) {
    turn('dir', 'dirlink');
    turn('file', 'filelink');
    swaps += 2;
  }
  if (process.connected) setImmediate(round);
};
round();
