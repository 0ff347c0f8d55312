/**
 * The cap world: a real host, a session over its door, and the caps that a person would grant for the same work.
 *
 * Two sessions: `with` holds a directory cap (`files`) and a shell cap (`shell`), both of the work directory only; `without` holds the
 * directory cap alone. An agent has nothing else: what it asks for and was not granted is `no-such-object`.
 */
import fs from 'node:fs';
import { join } from 'node:path';
import { type FsCap, openFsCap } from '@hob/caps-fs';
import { type Ended, makeShellCap, type ShellCap } from '@hob/caps-shell';
import { openHost, type SessionFace } from '@hob/host';
import { connect, E, type Far } from '@hob/vat';
import type { Connected } from '@hob/vat/wire';
import { DATES, type Machine } from './machine.ts';
import { Ends, scratch } from './scratch.ts';

const TIMEOUT_MS = 20_000;

/** The agent's view of one command. */
export interface Seen {
  /** Its code, where nothing ran. */
  readonly code?: string;
  readonly ended?: Ended;
  /** Its other effects, where somebody looked (`steps.ts`). */
  readonly effects?: readonly string[];
}

export interface CapWorld {
  /** Steps as an agent would run them, one after the other; the last one's end. */
  run(steps: readonly string[]): Promise<Seen>;
  /** The same where no shell was granted: the code it breaks with. */
  without(steps: readonly string[]): Promise<string>;
  readonly files: Far<FsCap>;
  close(): Promise<void>;
}

/** The cap behind the offer `shell`. */
export interface Offered {
  readonly offered: object;
  close(): Promise<void>;
}

export interface CapSettings {
  readonly machine: Machine;
  /** The session that should have no shell, for the tests of the tests. */
  readonly offers?: readonly string[];
  /** In place of the shell that a person would offer: for the tests that leave a step of the sandbox out. */
  readonly shell?: (work: FsCap, machine: Machine) => Promise<Offered>;
}

export async function openCapWorld({ machine, offers = ['files'], shell: other }: CapSettings): Promise<CapWorld> {
  // One folder below: a host keeps something beside its state, too.
  const { path: folder, remove } = scratch('state');
  const stateDir = join(folder, 'state');
  fs.mkdirSync(stateDir);
  const ends = new Ends();
  ends.add(remove);
  const close = (): Promise<void> => ends.close();
  try {
    const work = await openFsCap(machine.work);
    ends.add(() => work.close());
    const shell = await (other ?? shellOf)(work, machine);
    ends.add(() => shell.close());
    const host = await openHost({ stateDir });
    ends.add(() => host.close());
    await host.offer('files', work);
    await host.offer('shell', shell.offered);
    const { granter } = await host.addGranter('alice');
    const { url } = await host.serve();
    const enter = async (name: string, offers: readonly string[]): Promise<Connected<SessionFace>> => {
      const session = await host.openSession({ name, granters: ['alice'] });
      for (const offer of offers) await E(granter).grant(session.id, offer, offer, { for: 12 * 3_600_000 });
      const agent = await connect<SessionFace>(url, { secret: session.secret });
      ends.add(async () => {
        agent.close();
        await agent.closed;
      });
      return agent;
    };
    const agent = await enter('with', ['files', 'shell']);
    const poor = await enter('without', offers);
    const held = <T>(of: Connected<SessionFace>, petname: string): Far<T> =>
      E(of.bootstrap).cap(petname) as unknown as Far<T>;
    const granted = held<ShellCap>(agent, 'shell');
    return {
      run: async (steps) => {
        let seen: Seen = {};
        for (const text of steps) {
          try {
            seen = { ended: await E(granted).run(text, { timeoutMs: TIMEOUT_MS }) };
          } catch (error) {
            return { code: codeOf(error) };
          }
        }
        return seen;
      },
      without: async ([text = '']) => {
        try {
          await E(held<ShellCap>(poor, 'shell')).run(text);
          return 'ran';
        } catch (error) {
          return codeOf(error);
        }
      },
      files: held<FsCap>(agent, 'files'),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The work directory, where it is, and nothing else. */
export async function shellOf(work: FsCap, machine: Machine): Promise<Offered> {
  const offered = await makeShellCap({
    mounts: { [machine.work]: work },
    cwd: machine.work,
    env: { HOME: machine.home, ...DATES },
  });
  return { offered, close: () => offered.close() };
}

export const codeOf = (error: unknown): string => String((error as { code?: unknown }).code ?? error);
