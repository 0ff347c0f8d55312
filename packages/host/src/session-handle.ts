/** A session as the program that runs the host holds it. Each method is a turn of the host's vat. */
import { E, type Far, type Faraway } from '@hob/vat';
import { takeOptions } from '@hob/vat/forwarder';
import type { CancellableCall } from './sessions/calls.ts';
import { endSession } from './sessions/removal.ts';
import { rotateSecret, type SessionFace } from './sessions/sessions.ts';
import { publishUrl, resolveUrl, unpublishUrl } from './sharing/urls.ts';
import { sessionOf } from './state/groups.ts';
import type { HostState } from './state/host-state.ts';
import { openSessionNamed } from './state/lookups.ts';
import { notePersonTurn } from './state/loops.ts';
import type { HostTables, SessionRecord } from './state/records.ts';
import type { Session } from './types.ts';

/** The name of a session. */
export interface SessionLabel {
  readonly id: string;
  readonly name: string;
  readonly parent?: string;
}

/** The options of `ensureSession`, and those of `openSession`. */
export const sessionOptions = { name: true, granters: true, parent: true } as const;
export const openOptions = { name: true, granters: true, parent: true, unattended: true } as const;

export const labelOf = ({ id, name, parent }: SessionRecord): SessionLabel => ({
  id,
  name,
  ...(parent === undefined ? {} : { parent }),
});

interface SessionHandleParts {
  readonly label: SessionLabel;
  readonly secret: string | undefined;
  readonly ended: Promise<void>;
  readonly hostState: HostState;
  turn<R>(body: (tables: HostTables) => R): Promise<Faraway<R>>;
}

export function sessionHandle({ label, secret, ended, turn, hostState }: SessionHandleParts): Session {
  const { id } = label;
  const face = async (): Promise<Far<SessionFace>> =>
    (await turn((tables) => openSessionNamed(tables, id).face)) as unknown as Far<SessionFace>;
  return Object.freeze({
    ...label,
    secret,
    ended,
    caps: async () => await E(await face()).caps(),
    cap: async <T extends object>(petname: string) => (await E(await face()).cap(petname)) as Far<T>,
    call: async (call: CancellableCall) => await E(await face()).call(call),
    publish: async (petname: string, options?: { readonly for?: number }) => {
      const { for: ms } = takeOptions(options, 'publish', { for: true });
      return (await turn(() => publishUrl(hostState, id, petname, ms))) as string;
    },
    resolve: async <T extends object>(url: string) =>
      (await turn((tables) => resolveUrl(tables, openSessionNamed(tables, id), url))) as unknown as Far<T>,
    unpublish: (url: string) => turn((tables) => unpublishUrl(openSessionNamed(tables, id), url)),
    rotate: async () => (await turn(() => rotateSecret(hostState, id))) as { readonly secret: string },
    personTurn: async () => void (await turn((tables) => notePersonTurn(tables, id))),
    end: async (why = '') => {
      await turn((tables) => {
        // A session that has ended already needs nothing more.
        const session = sessionOf(tables, id);
        return session === undefined
          ? undefined
          : endSession(tables, session, { by: 'host' }, String(why).slice(0, 500));
      });
    },
    endUnlessEntered: async (why = '') =>
      (await turn((tables) => {
        const session = sessionOf(tables, id);
        if (session === undefined) return 'over';
        if (wasEntered(tables, session)) return 'entered';
        void endSession(tables, session, { by: 'host' }, String(why).slice(0, 500));
        return 'ends';
      })) as 'ends' | 'entered' | 'over',
  });
}

/** In a turn: whether anybody ever entered this session, or one below it. */
function wasEntered(tables: HostTables, { entered, children }: SessionRecord): boolean {
  if (entered) return true;
  for (const [, id] of children.entries()) {
    const child = sessionOf(tables, id);
    if (child !== undefined && wasEntered(tables, child)) return true;
  }
  return false;
}
