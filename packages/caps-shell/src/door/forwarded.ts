/**
 * One request of a program that the host answers by itself.
 *
 * Promise: it ends with its way, and the grant of the way is released only when nothing of it is left.
 */
import type { Socket } from 'node:net';
import type { Forward } from './passage.ts';

/** The way, as far as a request needs it. */
interface CountedWay {
  readonly pairs: Set<Cut>;
  readonly isSpent: boolean;
  connections: number;
  sent: number;
  received: number;
  cut(): void;
  left(pair: Cut): void;
}

/** One connection of a program. */
export interface Cut {
  cut(): void;
}

/** `first` are the bytes of the request that were read already. */
export async function forwarded(
  way: CountedWay,
  forward: Forward,
  client: Socket,
  first: readonly Uint8Array[],
): Promise<void> {
  const ending = new AbortController();
  const request: Cut = {
    cut: () => {
      ending.abort();
      client.destroy();
    },
  };
  way.pairs.add(request);
  way.connections += 1;
  for (const bytes of [...first].reverse()) if (bytes.length > 0) client.unshift(bytes);
  const count = (sent: number, received: number): boolean => {
    way.sent += sent;
    way.received += received;
    // All requests of the way: together they carry what was granted.
    if (way.isSpent) way.cut();
    return !way.isSpent;
  };
  try {
    await forward.serve(client, ending.signal, count);
  } finally {
    client.destroy();
    way.left(request);
  }
}
