/** A process with few descriptors that runs one job and prints the result. */
import { makeShellCap } from '../src/index.ts';

const shell = await makeShellCap({ mounts: {} });
const said = await shell.run('echo ran').then(
  ({ stdout }) => stdout,
  (error: Error) => error.message,
);
process.stdout.write(said);
await shell.close();
