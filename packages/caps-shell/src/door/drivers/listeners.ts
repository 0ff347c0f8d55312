/**
 * Serves the listeners that the sandbox program made in a world and handed over.
 *
 * Promise: a listener is closed when the job is over, also one that comes late. The channel is read from the sandbox
 * program alone; no process of the world has it (sandbox/door.c).
 */
import type { ChildProcess } from 'node:child_process';
import { Socket } from 'node:net';

/** A listener of the world, in the order of the spec. */
export interface Listener {
  /** A port on 127.0.0.1, or the path inside of a Unix socket. */
  readonly at: number | string;
  /** Must not throw. */
  readonly accept: (connection: Socket) => void;
}

/** A listening handle of Node, as it comes over an IPC channel. */
interface ListeningHandle {
  onconnection: ((status: number, connection: object | undefined) => void) | null;
  listen(backlog: number): number;
  close(): void;
}

interface Connected {
  close(): void;
}

const BACKLOG = 128;

/** Returns a function that closes them. */
export function serveListeners(child: ChildProcess, listeners: readonly Listener[]): () => void {
  const open = new Set<ListeningHandle>();
  let closed = false;
  let missing = listeners.length;
  // It must not keep this process alive, as no other part of a job does.
  child.channel?.unref();
  child.on('message', (index, given) => {
    const handle = given as unknown as ListeningHandle | undefined;
    const listener = listeners[index as unknown as number];
    if (handle === undefined || listener === undefined) return;
    open.add(handle);
    handle.onconnection = (status, connection) => {
      if (status !== 0 || connection === undefined) return;
      try {
        listener.accept(socketOf(connection as Connected));
      } catch {
        // It ends this connection and nothing else.
        (connection as Connected).close();
      }
    };
    if (closed || handle.listen(BACKLOG) !== 0) handle.close();
    missing -= 1;
    if (missing === 0 && child.connected) child.disconnect();
  });
  return () => {
    closed = true;
    for (const handle of open) handle.close();
    open.clear();
  };
}

/** A program that stops sending can still receive. */
const socketOf = (handle: Connected): Socket =>
  new Socket({ handle, allowHalfOpen: true, readable: true, writable: true, pauseOnCreate: true } as object);
