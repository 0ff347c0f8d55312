/**
 * `startProgram`: a program that the host itself runs in the sandbox and talks to, such as a server of tools.
 *
 * It is in a world of its own like a command, and reaches only what that world holds. Nobody was granted the program,
 * so the ledger has no line for it; the host decides what its messages may do. It ends with `signal('KILL')`, when a
 * mounted directory closes, at its limits, and with the host.
 */
import { CapError } from '@hob/vat';
import { takeOptions } from '@hob/vat/forwarder';
import { takeArgument, takeText } from './arguments.ts';
import { host } from './caller.ts';
import { openExecutable } from './drivers/executable.ts';
import { Jobs } from './jobs.ts';
import { takeAuthority, worldOptions } from './shell.ts';
import type { Job, World } from './shell-cap.ts';

/**
 * Starts `program`, an absolute path of this machine, with these arguments. Its input stays open until `end()`. The
 * default limits are those of a job: name `wallMs` and `outputBytes` for a program that lives long. Resolves when it
 * runs. Errors: `E_EXEC_NOT_FOUND`, and those of `makeShellCap` and of a job.
 */
export async function startProgram(program: string, args: readonly string[], world: World): Promise<Job> {
  const path = takeText(program, 'the program');
  if (!path.startsWith('/')) throw new CapError('invalid', 'name the program by its absolute path on this machine');
  const given = args.map((arg, n) => takeArgument(arg, `argument ${n + 1}`));
  const { places, cwd, env, limits } = await takeAuthority(takeOptions(world, 'startProgram', worldOptions));
  const executable = openExecutable(path);
  try {
    const { program: inside, name, is, mounts: more } = executable;
    const request = {
      ...{ program: inside, is, args: [name, ...given], ledgerArgs: given, method: 'spawn' },
      ...{ places, more, cwd, env, limits, timeoutMs: undefined, stdin: 'open' as const },
    };
    return (await new Jobs().start(request, host)).job;
  } finally {
    // The sandbox program has its own copy now.
    executable.close();
  }
}
