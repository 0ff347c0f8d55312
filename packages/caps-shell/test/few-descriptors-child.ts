/** Runs more jobs at once than this process has descriptors for, and one job afterwards. Prints how each ended. */
import { makeShellCap } from '../src/index.ts';

const shell = await makeShellCap({ mounts: {} });
const run = (): Promise<string> =>
  shell.run('echo ran').then(
    ({ stdout }) => stdout.trim(),
    ({ code }: { code: string }) => code,
  );
const said = await Promise.all(Array.from({ length: 12 }, run));
process.stdout.write(`${JSON.stringify([...said, await run()])}\n`, () => process.exit());
