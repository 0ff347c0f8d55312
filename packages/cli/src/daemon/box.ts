/**
 * The box of a session: the agent's program in the sandbox, in the world of the directories that its session holds.
 *
 * Promise: the program sees the system image, its own home, its own code, the directories of its session and two doors:
 * sockets to its model and to Hob's MCP server. It has no other network. It ends with a grant of one of the
 * directories, with its session, with `hob start` and with the host. Where no sandbox can be built, nothing runs.
 */
import { type FsCap, openFsCap } from '@hob/caps-fs';
import { type Job, type SentJob, startProgram } from '@hob/caps-shell';
import { CapError, driverOf, type Far } from '@hob/vat';
import { shortId } from '../line/ids.ts';
import type { HeldDirectories } from '../plan/box.ts';
import type { OpenedSession } from '../plan/sessions.ts';

/** The home of the program, and its doors, as it sees them. No root of a manifest has such a name. */
export const HOME = '/.hob/home';
export const DOORS = '/.hob/doors';

/** The program of a box, and its world. */
export interface BoxOrder {
  /** The folder of the run in the folder of all runs. `home` and `doors` are in it. */
  readonly run: string;
  /** Directories of this machine with the code of the program, by their places in the box. */
  readonly trees: Readonly<Record<string, string>>;
  /** An absolute path of this machine. */
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Whether the directories of the session are in the box. Otherwise the program reaches them through Hob only. */
  readonly sees: 'directories' | 'nothing';
}

/** A program that runs in a box. */
interface Boxed {
  readonly job: Far<SentJob>;
  /** The directories, by their places in the box. */
  readonly rights: HeldDirectories['rights'];
  readonly left: readonly string[];
}

/** The box of a session, as `hob start` reaches it. */
export interface Box {
  /** Once. Errors: `invalid`, and those of `startProgram`. */
  start(order: BoxOrder): Promise<Boxed>;
}

/** The job for this process, and what its caller gets. */
interface Started {
  readonly plain: Job;
  readonly boxed: Boxed;
}

interface BoxParts {
  readonly opened: Pick<OpenedSession, 'session' | 'directories'>;
  /** The folder of all runs. */
  readonly agents: string;
  /** Aborted when the host ends. */
  readonly end: AbortSignal;
  readonly log: (line: string) => void;
}

/** It lives as long as a session can. */
const LONGEST_MS = 0x7fff_ffff;
const GiB = 2 ** 30;
const LIMITS = {
  ...{ wallMs: LONGEST_MS, cpuMs: LONGEST_MS, outputBytes: Number.MAX_SAFE_INTEGER },
  ...{ memoryBytes: 4 * GiB, processes: 1024, fileBytes: 4 * GiB, tmpBytes: 2 * GiB },
};

/** `kill` resolves with whether there was a program, when nothing of it is left. */
export function boxOf(parts: BoxParts): { readonly reference: Far<Box>; kill(): Promise<boolean> } {
  let running: Promise<Started> | undefined;
  const start = async (order: BoxOrder): Promise<Boxed> => {
    if (running !== undefined) throw new CapError('invalid', 'the box of a session runs one program, once');
    running = run(parts, order);
    return (await running).boxed;
  };
  const kill = async (): Promise<boolean> => {
    const found = await running?.catch(() => undefined);
    await found?.plain.signal('KILL').catch(() => {});
    await found?.plain.wait().catch(() => {});
    return found !== undefined;
  };
  return { reference: driverOf<Box>({ start }), kill };
}

const NOTHING: HeldDirectories = { mounts: {}, rights: {}, left: [], ends: [], done: () => {} };

async function run(
  { opened: { session, directories }, agents, end, log }: BoxParts,
  { run: name, trees, program, args, env, sees }: BoxOrder,
): Promise<Started> {
  // It becomes a part of a path.
  if (!/^run-[A-Za-z0-9]{6}$/.test(name)) throw new CapError('invalid', 'a run has no such name');
  const held = sees === 'directories' ? await directories() : NOTHING;
  const own: FsCap[] = [];
  const open = async (folder: string): Promise<FsCap> => {
    const cap = await openFsCap(`${agents}/${name}/${folder}`);
    own.push(cap);
    return cap;
  };
  const close = async (): Promise<void> => {
    held.done();
    await Promise.all(own.map((cap) => cap.close().catch(() => {})));
  };
  const over = new AbortController();
  session.ended.then(
    () => over.abort(new CapError('revoked', 'the session has ended')),
    () => {},
  );
  try {
    const mounts = { ...held.mounts, [HOME]: await open('home'), [DOORS]: await (await open('doors')).readOnly() };
    const cwd = Object.keys(held.rights).sort((a, b) => Number(held.rights[b] === 'rw') - Number(held.rights[a] === 'rw'))[0] ?? '/'; // biome-ignore format: one line
    const job = await startProgram(program, args, { mounts, cwd, env, limits: LIMITS }, { trees, ends: [over.signal, end, ...held.ends], onOver: () => void close() }); // biome-ignore format: one line
    const { rights, left } = held;
    log(`session ${shortId('S', session.id)} runs its agent in a box, with ${Object.keys(rights).length} directories`);
    return { plain: job, boxed: { job: driverOf(job) as unknown as Far<SentJob>, rights, left } };
  } catch (error) {
    await close();
    throw error;
  }
}
