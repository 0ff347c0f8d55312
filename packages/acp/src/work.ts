/** What the wrapper is given: sessions of Hob, and programs of agents that run in them. */
import type { Far } from '@hob/vat/peer';
import type { EditorGranter, Reach } from './held.ts';
import type { Pipe } from './peer.ts';

/** The program of an agent that runs. */
export interface Agent {
  readonly pipe: Pipe;
  /** Resolves when the program has ended. */
  readonly ended: Promise<void>;
  /** Ends the program and what it began. */
  stop(): Promise<void>;
  /** The directory that it is told to work in. `cwd` is that of the editor. */
  directory(cwd: string): string;
  /** The servers of MCP that a new session of it gets: Hob’s, unless its configuration has it already. */
  readonly mcpServers: readonly object[];
  /** `_meta` of a new session, by which some agents give up tools of their own. That of the editor is left out. */
  readonly meta?: object;
  /**
   * The permissions that it asks for itself. `shown`: the editor shows them, as the agent’s words. `allowed`:
   * it has nothing of its own but what a sandbox limits, so each is allowed once, and Hob asks for what is
   * Hob’s.
   */
  readonly asks: 'shown' | 'allowed';
}

/** A session of Hob for one session of the editor. */
export interface Work {
  /** The id of the session. */
  readonly id: string;
  readonly session: Reach;
  /** The absolute paths of its directories on this machine, by petname: the editor opens files there. */
  readonly places: Readonly<Record<string, string>>;
  /**
   * Runs the agent in it. It is called again after the agent has crashed. Errors: `CapError` (the session has
   * ended).
   */
  start(): Promise<Agent>;
  /** Closes the connection of the wrapper: if nobody else is in the session, its grace time begins. */
  leave(): Promise<void>;
  /** Ends the session at once. */
  end(): Promise<void>;
}

/** Options of `wrap`. */
export interface WrapOptions {
  /** The editor. */
  readonly editor: Pipe;
  /** Opens a session. Errors: `CapError`, and errors whose text is for the person. */
  readonly open: () => Promise<Work>;
  /** The granter `editor`, if the sessions name it: its requests are shown in the editor. */
  readonly granter?: Far<EditorGranter>;
  /** Ends all sessions when it is aborted, as the end of the editor does. */
  readonly end?: AbortSignal;
  /** Tells the person, outside of the protocol. */
  readonly say: (line: string) => void;
}
