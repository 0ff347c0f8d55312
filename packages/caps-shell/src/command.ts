/**
 * `makeCommandCap`: one program, with the arguments that its granter described, in the same world as a shell's.
 *
 * Promise: it is the file that was granted, held by descriptor and compared when it is run, not a name that somebody may put another
 * program behind. No shell reads the arguments. An argument list alone would contain nothing (most programs can be made to read, write or
 * run others), so it runs in the sandbox like everything else.
 */
import { CapError, drivenBy } from '@hob/vat';
import { type ArgSpec, checkedArgs, takeArgs } from './argv.ts';
import { type Caller, callerOf, host } from './caller.ts';
import { openExecutable } from './drivers/executable.ts';
import { FRAME } from './job.ts';
import { Jobs } from './jobs.ts';
import { takeTimeout } from './limits.ts';
import { takeAuthority, takeInput } from './shell.ts';
import type { CommandCap, Ended, World } from './shell-cap.ts';
import { takeRecord, takeText } from './taking.ts';

type RunOptions = { readonly timeoutMs?: number; readonly stdin?: string };

/** Errors: `E_EXEC_NOT_FOUND`, and those of `makeShellCap`. */
export async function makeCommandCap(
  program: string,
  world: World & { readonly args?: readonly ArgSpec[] },
): Promise<CommandCap> {
  const path = takeText(program, 'the program');
  if (!path.startsWith('/')) throw new CapError('invalid', 'a program is named by its whole path on this machine');
  const { args: given, ...rest } = takeRecord(world, 'a world', ['mounts', 'cwd', 'env', 'limits', 'args']);
  const specs = takeArgs(given);
  const { places, cwd, env, limits } = await takeAuthority(rest);
  const executable = openExecutable(path);
  const tenure = new Jobs();

  const run = async (caller: Caller, args: unknown, options: unknown, budget?: number): Promise<Ended> => {
    const { timeoutMs, stdin } = takeRecord(options, 'options', ['timeoutMs', 'stdin']);
    const checked = checkedArgs(args, specs, places, cwd);
    tenure.check(caller.holder);
    if (!executable.isSame())
      throw new CapError('E_EXEC_CHANGED', 'the program is not the one that was granted: grant it again');
    const { program: inside, name, is, mounts: more } = executable;
    const running = await tenure.start(
      {
        program: inside,
        is,
        args: [name, ...checked],
        said: checked,
        method: 'run',
        places,
        more,
        cwd,
        env,
        limits,
        timeoutMs: takeTimeout(timeoutMs),
        stdin: stdin === undefined ? undefined : takeInput(stdin),
      },
      caller,
    );
    return await running.wait(budget);
  };
  const close = async (caller: Caller): Promise<void> => {
    await tenure.close(caller.holder);
    if (caller.holder === '') executable.close();
  };

  const command: CommandCap = Object.freeze({
    run: (args: readonly string[], options?: RunOptions) => run(host, args, options),
    close: () => close(host),
  });
  return drivenBy(command, {
    run: ([args, options], call) => run(callerOf(call), args, options, FRAME),
    close: (_args, call) => close(callerOf(call)),
  });
}
