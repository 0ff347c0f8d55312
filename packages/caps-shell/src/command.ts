/**
 * `makeCommandCap`: one program with the arguments that its granter described, in a world like that of a
 * shell.
 *
 * The cap holds the granted file by a descriptor and compares it before each run, so nobody can put another
 * program in its place. No shell reads the arguments. A list of allowed arguments confines nothing, because
 * most programs can be made to read, write or run others. So the program runs in the sandbox too.
 */
import { CapError } from '@hob/vat';
import { drivenBy, takeOptions, withEffects, withPlace } from '@hob/vat/forwarder';
import { takeText } from './arguments.ts';
import { type ArgForms, type ArgSpec, checkedArgs, takeArgs } from './argv.ts';
import { type Caller, callerOf, host } from './caller.ts';
import { placesOf } from './door/ways.ts';
import { openExecutable } from './drivers/executable.ts';
import { programEffects } from './effects.ts';
import { TEXT_BUDGET } from './job.ts';
import { Jobs } from './jobs.ts';
import { takeTimeout } from './limits.ts';
import { placesIn, writtenEffects } from './mounts.ts';
import { takeAuthority, takeInput, worldOptions } from './shell.ts';
import type { CommandCap, Ended, World } from './shell-cap.ts';

type RunOptions = { readonly timeoutMs?: number; readonly stdin?: string };

/** Makes a command. Errors: `E_EXEC_NOT_FOUND`, and those of `makeShellCap`. */
export async function makeCommandCap(
  program: string,
  world: World & { readonly args?: readonly ArgSpec[] | ArgForms },
): Promise<CommandCap> {
  const path = takeText(program, 'the program');
  if (!path.startsWith('/')) throw new CapError('invalid', 'name the program by its absolute path on this machine');
  const { args: given, ...rest } = takeOptions(world, 'makeCommandCap', { ...worldOptions, args: true });
  const specs = takeArgs(given);
  const authority = await takeAuthority(rest);
  const { places, ways, cwd, env, limits } = authority;
  const executable = openExecutable(path);
  const jobs = new Jobs();

  const run = async (caller: Caller, args: unknown, options?: RunOptions, budget?: number): Promise<Ended> => {
    const { timeoutMs, stdin } = takeOptions(options, 'run', { timeoutMs: true, stdin: true });
    const checked = checkedArgs(args, specs, places, cwd);
    jobs.check(caller.holder);
    if (!executable.isSame())
      throw new CapError('E_EXEC_CHANGED', 'the program is not the one that was granted: grant it again');
    const { program: inside, name, is, mounts: more } = executable;
    const running = await jobs.start(
      {
        program: inside,
        is,
        args: [name, ...checked],
        ledgerArgs: checked,
        method: 'run',
        places,
        ways,
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
    await jobs.close(caller.holder);
    if (caller.holder === '') executable.close();
  };

  const command: CommandCap = Object.freeze({
    run: (args: readonly string[], options?: RunOptions) => run(host, args, options),
    close: () => close(host),
  });
  withPlace(command, () => ({ kind: 'program', name: path, mounts: { ...placesIn(places), ...placesOf(ways) } }));
  withEffects(command, () => programEffects({ written: writtenEffects(places), ways }));
  return drivenBy(command, {
    run: ([args, options], call) => run(callerOf(call), args, options as RunOptions, TEXT_BUDGET),
    close: (_args, call) => close(callerOf(call)),
  });
}
