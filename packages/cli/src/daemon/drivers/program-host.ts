/**
 * `hob host`: a host for the program that started it, such as a Python program with tools of its own.
 *
 * Promise: the host ends when its standard input ends, so it never outlives the program, also if that is killed. It
 * ends with 1 when its store is gone. All that was granted and spent stays in the state. The granter is reached on a
 * socket in a folder of mode 0700.
 */
import { openHost, sentinelHome, toolHostOf } from '@hob/host';
import { granterSocket, holderOf } from '@hob/host/client';
import { endWithProcess, leaveMemoryOutOfCores, openPrivateFolder, openStateDir } from '@hob/host/programs';
import { logLines } from '../../line/log-text.ts';
import { Mistake } from '../../line/mistake.ts';
import { OWNER } from '../../plan/names.ts';
import { definitions } from '../served/definitions.ts';
import { endWithStore } from './end-with-store.ts';

/** A session may be away for as long between two connections. */
const GRACE_MS = 3_600_000;

interface ProgramHostChoice {
  readonly state: string;
  /** The folder of the sentinel. Undefined: the usual one. */
  readonly sentinel: string | undefined;
  readonly say: (line: string) => void;
}

/** The program that started the host reads this. */
interface ProgramHostStatus {
  readonly pid: number;
  /** The address for sessions. */
  readonly url: string;
  /** The address for the granter. */
  readonly granter: string;
}

/** Serves until the process ends. Errors: `Mistake`, and those of a host. */
export async function serveProgram({ state, sentinel, say }: ProgramHostChoice): Promise<ProgramHostStatus> {
  const { folder } = granterSocket(state);
  openStateDir(state);
  const holder = holderOf(state);
  if (holder !== 'nobody') throw new Mistake(`process ${holder.pid ?? '?'} serves this state already`);
  leaveMemoryOutOfCores();
  const home = sentinel ?? sentinelHome();
  const host = await openHost({
    stateDir: state,
    definitions,
    ...(home && { sentinel: home }),
    graceMs: GRACE_MS,
    observe: ({ id, error }) => {
      for (const line of logLines(`error ${id}: ${error instanceof Error ? error.stack : String(error)}`)) say(line);
    },
  });
  const end = endWithProcess(host, state);
  endWithStore(host, say);
  await host.ensureGranter(OWNER);
  openPrivateFolder(folder);
  const { url } = await host.serve();
  const tools = toolHostOf({ host, granter: OWNER, url });
  const { url: granter } = await host.serveGranter({ granter: OWNER, daemon: { tools: async () => tools } });
  // It flows from now on, so an input that ended before is noticed here.
  process.stdin.on('end', end).on('close', end).on('error', end).resume();
  return { pid: process.pid, url, granter };
}
