/** The sessions of an editor, opened by the host that serves the manifest. */
import type { Agent, EditorGranter, HeldSession, Work } from '@hob/acp';
import { connect, driverOf, E, type Far } from '@hob/vat';
import type { Daemon, OpenedEntry, Starter } from '../daemon/daemon.ts';
import { shortId } from '../line/ids.ts';

/** What sessions are opened with. */
interface Opening {
  readonly daemon: Far<Daemon>;
  readonly open: (starter: Starter) => Promise<OpenedEntry>;
  /** Ends a session by its id, also over another connection if the host was started again. */
  readonly end: (session: string) => Promise<unknown>;
  readonly start: (entry: OpenedEntry) => Promise<Agent>;
  readonly say: (line: string) => void;
}

/** Opens one. Errors: those of a host. */
export async function openWork({ daemon, open, end, start, say }: Opening): Promise<Work> {
  const over = Promise.withResolvers<void>();
  const entry = await open(driverOf<Starter>({ ended: () => over.promise }) as unknown as Starter);
  for (const text of entry.said) say(text);
  say(`hob: session ${shortId('S', entry.id)}`);
  let entered: ReturnType<typeof connect<HeldSession>> | undefined;
  const leave = async (): Promise<void> => {
    const connection = await entered?.catch(() => undefined);
    entered = undefined;
    connection?.close();
    await connection?.closed;
  };
  return {
    id: entry.id,
    places: (await E(daemon).places()) as Readonly<Record<string, string>>,
    async session() {
      entered ??= connect<HeldSession>(`${entry.url}/beside`, { secret: entry.secret });
      const entering = entered;
      const forget = (): void => {
        if (entered === entering) entered = undefined;
      };
      try {
        const { bootstrap, closed } = await entering;
        // The next message makes another one.
        closed.then(forget, forget);
        return bootstrap;
      } catch (error) {
        forget();
        throw error;
      }
    },
    start: () => start(entry),
    leave,
    async end() {
      await leave();
      over.resolve();
      await end(entry.id);
    },
  };
}

/** The granter at the editor; undefined if the sessions of the manifest do not name it. */
export async function editorOf(daemon: Far<Daemon>): Promise<Far<EditorGranter> | undefined> {
  const granter = (await E(daemon).editor()) as unknown;
  return granter as Far<EditorGranter> | undefined;
}
