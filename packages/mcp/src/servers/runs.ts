/** One run of a server: a job in the sandbox, or a session at an address. */
import { type Job, startProgram, type World } from '@hob/caps-shell';
import { type HttpPlace, HttpTransport } from './http-transport.ts';
import type { ServerTransport } from './incoming.ts';
import type { FullServerLimits } from './limits.ts';
import { JobTransport } from './transport.ts';

/** A program with its world. */
interface ServerProgram {
  /** An absolute path of this machine. */
  readonly program: string;
  readonly args: readonly string[];
  readonly world: World;
  readonly limits: FullServerLimits;
}

/** One run, from its start to its end. */
export interface Run {
  readonly transport: ServerTransport;
  /** Resolves when nothing of it is left. It never rejects. */
  readonly ended: Promise<unknown>;
  /** The reason why it did not start, for the person who runs the host. */
  why(): string;
}

const LAST_WORDS = 2048;
const LONGEST_WALL_MS = 0x7fff_ffff;

/** Starts a program in the sandbox. Errors: those of the sandbox. */
export async function runProgram({ program, args, world, limits }: ServerProgram): Promise<Run> {
  const { limits: most = {}, ...place } = world;
  const all = { wallMs: LONGEST_WALL_MS, outputBytes: Number.MAX_SAFE_INTEGER, ...most };
  const job = await startProgram(program, args, { ...place, limits: all });
  const words = { last: '' };
  void readWords(job, words);
  return {
    transport: new JobTransport(job, limits),
    ended: job.wait().catch(() => {}),
    why() {
      const last = words.last.trim().split('\n').slice(-3).join(' / ');
      return last === '' ? 'it said nothing on standard error' : `it said last: ${last}`;
    },
  };
}

/** Standard error is kept for the person who starts the server, and only its end. */
async function readWords({ stderr }: Job, words: { last: string }): Promise<void> {
  try {
    for (let part = await stderr.next(); part !== undefined; part = await stderr.next())
      words.last = `${words.last}${Buffer.from(part).toString()}`.slice(-LAST_WORDS);
  } catch {
    // It ended with its job.
  }
}

/** Begins a session at an address. */
export function runAt(place: HttpPlace): Run {
  const transport = new HttpTransport(place);
  return { transport, ended: transport.ended, why: () => transport.words || 'it does not speak MCP there' };
}
