/**
 * `startProgram`: a program that the host itself runs in the sandbox and talks to, such as a server of tools.
 *
 * It is in a world of its own like a command, and reaches only what that world holds. Nobody was granted the program,
 * so the ledger has no line for it; the host decides what its messages may do. It ends with `signal('KILL')`, when a
 * mounted directory closes, at its limits, and with the host.
 */
import { CapError } from '@hob/vat';
import { type OptionNames, takeOptions } from '@hob/vat/forwarder';
import { takeArgument, takeText } from './arguments.ts';
import { type Caller, host } from './caller.ts';
import { openExecutable } from './drivers/executable.ts';
import { openTrees } from './drivers/image.ts';
import { Jobs } from './jobs.ts';
import { takeAuthority, worldOptions } from './shell.ts';
import type { Job, World } from './shell-cap.ts';

/** More of a program that the host starts. */
export interface ProgramOptions {
  /** Directories of this machine beside the system image, read-only, by their paths inside. The host program chooses them. */
  readonly trees?: Readonly<Record<string, string>>;
  /** The program ends when one of them is aborted. */
  readonly ends?: readonly AbortSignal[];
  /** Called when nothing of the program is left. */
  readonly onOver?: () => void;
}

const programOptions: OptionNames<ProgramOptions> = { trees: true, ends: true, onOver: true };

/**
 * Starts `program`, an absolute path of this machine, with these arguments. Its input stays open until `end()`. The
 * default limits are those of a job: name `wallMs` and `outputBytes` for a program that lives long. Resolves when it
 * runs. Errors: `E_EXEC_NOT_FOUND`, the reason of an aborted signal, and those of `makeShellCap` and of a job.
 */
export async function startProgram(
  program: string,
  args: readonly string[],
  world: World,
  options?: ProgramOptions,
): Promise<Job> {
  const path = takeText(program, 'the program');
  if (!path.startsWith('/')) throw new CapError('invalid', 'name the program by its absolute path on this machine');
  const given = args.map((arg, n) => takeArgument(arg, `argument ${n + 1}`));
  const {
    trees = {},
    ends = [],
    onOver = () => {},
  } = takeOptions<ProgramOptions>(options, 'startProgram', programOptions);
  const { places, ways, cwd, env, limits } = await takeAuthority(takeOptions(world, 'startProgram', worldOptions));
  using executable = openExecutable(path);
  using beside = openTrees(trees);
  const { program: inside, name, is, mounts } = executable;
  const request = {
    ...{ program: inside, is, args: [name, ...given], ledgerArgs: given, method: 'spawn' },
    ...{ places, ways, more: [...mounts, ...beside.mounts] },
    ...{ cwd, env, limits, timeoutMs: undefined, stdin: 'open' as const },
  };
  // The sandbox program has its own copies of the descriptors when this returns.
  return (await new Jobs().start(request, watching(ends, onOver))).job;
}

/** The host, as it watches over a job. */
const watching = (ends: readonly AbortSignal[], done: () => void): Caller => ({
  ...host,
  watch: () => ({ signal: ends.length === 0 ? host.watch().signal : AbortSignal.any([...ends]), done }),
});
