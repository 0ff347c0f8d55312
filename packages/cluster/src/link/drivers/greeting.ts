/**
 * The line that each side of a link sends first. It names the version of the link.
 *
 * A web page can make a browser send a request to any port of its machine. A front door trusts what comes over the link,
 * so a link takes nothing from a program that does not send this line first. No HTTP request begins with it.
 */
import type { Socket } from 'node:net';
import { CapError } from '@hob/vat';

const GREETING = Buffer.from('hob-link 1\n');
/** The time limit for the line of the other side, in ms. */
const greetingMs = 5000;

export const greet = (socket: Socket): boolean => socket.write(GREETING);

/** Resolves when the other side has sent the line. Errors: `unavailable`. */
export function greeted(socket: Socket): Promise<void> {
  return new Promise((resolve, reject) => {
    const over = (said: boolean): void => {
      clearTimeout(timer);
      socket.off('readable', look).off('end', silent).off('close', silent);
      if (said) resolve();
      else
        reject(
          new CapError(
            'unavailable',
            'the other side does not speak this version of the link: run the same version of Hob on both',
          ),
        );
    };
    const silent = (): void => over(false);
    const look = (): void => {
      const said: Buffer | null = socket.read(GREETING.length);
      // At the end of a stream, `read` returns fewer bytes than it was asked for.
      if (said !== null) over(said.equals(GREETING));
    };
    const timer = setTimeout(silent, greetingMs);
    socket.on('readable', look).on('end', silent).on('close', silent);
    if (socket.destroyed) silent();
  });
}
