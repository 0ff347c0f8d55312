/** Connects to a Unix socket of this machine. It decides nothing. */
import net from 'node:net';
import { refusal } from '../../base/errors.ts';

/** Errors: `E_UNREACHABLE`, `E_TIMEOUT`. */
export function openPath(path: string, signal: AbortSignal): Promise<net.Socket> {
  return new Promise((resolve, reject) => {
    const socket = net.connect({ path, allowHalfOpen: true });
    const late = (): void => {
      socket.destroy();
      reject(refusal('E_TIMEOUT', 'there is no connection'));
    };
    signal.addEventListener('abort', late, { once: true });
    if (signal.aborted) late();
    socket.once('connect', () => {
      signal.removeEventListener('abort', late);
      resolve(socket);
    });
    // Stays, so that a later error does not end the process.
    socket.on('error', () => reject(refusal('E_UNREACHABLE')));
  });
}
