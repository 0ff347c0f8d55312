/**
 * The host, as a program that brings its own tools sees it: it opens sessions, and offers objects of its own.
 *
 * Promise: whoever reaches this object acts with the authority of its granter and no more. The sessions that it opens
 * name that granter. An offer never takes the place of one that another program, or the manifest, made.
 */
import { CapError, type Far, isReference } from '@hob/vat';
import { type Effects, takeOptions } from '@hob/vat/forwarder';
import type { Host, OfferOptions } from '../types.ts';
import { type RemoteTools, remoteTools } from './remote-tools.ts';

/** A session of a program. */
export interface ToolSession {
  readonly id: string;
  /** Opens the session at `url`. A session that was open gets a new secret; the old one ends when this is first used. */
  readonly secret: string;
  readonly url: string;
  /** The session was open already, with its caps and what is left of them. */
  readonly again: boolean;
}

/** The words of a program about an object that it offers. */
export interface ToolsAbout {
  readonly methods: readonly string[];
  /** The methods that change nothing. */
  readonly reads?: readonly string[];
  readonly effects?: Effects;
  readonly label?: string;
}

/** The host, for a program that brings its own tools. */
export interface ToolHost {
  /** Opens a session, or continues the open one of that name. Errors: `invalid`. */
  openSession(name: string): Promise<ToolSession>;
  /**
   * Offers an object until its connection ends. Offered again under its name, it stands behind the same grants. Errors:
   * `invalid` (somebody else offers that name).
   */
  offer(name: string, tools: RemoteTools, about: ToolsAbout): Promise<void>;
}

interface ToolHostParts {
  readonly host: Pick<Host, 'ensureSession' | 'offer'>;
  readonly granter: string;
  /** The address for sessions. */
  readonly url: string;
}

const MOST_METHODS = 200;

/** The object behind it. */
export function toolHostOf({ host, granter, url }: ToolHostParts): ToolHost {
  return {
    async openSession(name) {
      const session = await host.ensureSession({ name, granters: [granter] });
      const { id, secret } = session;
      if (secret !== undefined) return { id, secret, url, again: false };
      return { id, secret: (await session.rotate()).secret, url, again: true };
    },
    async offer(name, tools, given) {
      if (!isReference(tools)) throw new CapError('invalid', 'offer takes an object of the program that offers it');
      const about = takeOptions<ToolsAbout>(given, 'offer', { methods: true, reads: true, effects: true, label: true });
      const methods: unknown = about.methods;
      if (!Array.isArray(methods) || methods.length === 0 || methods.length > MOST_METHODS)
        throw new CapError('invalid', `the methods of an offer are a list of 1 to ${MOST_METHODS} names`);
      const options: OfferOptions = { ...about, fromPeer: true };
      await host.offer(name, remoteTools(tools as unknown as Far<RemoteTools> & RemoteTools, methods), options);
    },
  };
}
