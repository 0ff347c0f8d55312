/** Tries to run a job on a machine that builds no sandboxes, and prints the code of the error. */
import { openFsCap } from '@hob/caps-fs';
import { makeCommandCap, makeShellCap } from '../src/index.ts';

const [folder = ''] = process.argv.slice(2);
const dir = await openFsCap(folder);
const codeOf = (error: { code?: string; message?: string }): string => `${error.code} ${error.message}`;
const shell = await makeShellCap({ mounts: { '/ws': dir } });
const touch = await makeCommandCap('/usr/bin/touch', { mounts: { '/ws': dir }, args: [{ rest: 'path' }] });
const said = [
  await shell.run('touch ran').then(() => 'ran', codeOf),
  await shell.spawn('touch ran').then(() => 'ran', codeOf),
  await touch.run(['ran']).then(() => 'ran', codeOf),
];
process.stdout.write(`${JSON.stringify(said)}\n`);
