/**
 * A stream that came through a grant: if the peer that has it vanishes, the stream behind is ended, read or
 * not.
 */
import { type ByteSink, type ByteSource, driver, E, type Far } from '@hob/vat';
import { expect, test } from 'vitest';
import { peerOf, world } from '../test/world.ts';
import { membrane, revocable } from './index.ts';

interface Files {
  open(): { readonly source: object; readonly sink: object };
}
const told: string[] = [];
const files = driver<Files>({
  open: () => ({
    source: driver<ByteSource>({ next: async () => undefined, return: async () => void told.push('return') }),
    sink: driver<ByteSink>({
      write: async () => {},
      close: async () => {},
      abort: async () => void told.push('abort'),
    }),
  }),
});

test.each(['revocable', 'membrane', 'one in the other'])(
  '%s: a stream that was opened and never used is ended',
  async (how) => {
    const { vat } = await world();
    const granted = await vat.turn((): object => {
      const inner = how === 'membrane' ? membrane(files, {}).cap : revocable(files, {}).cap;
      return (how === 'one in the other' ? membrane(inner as never, {}).cap : inner) as object;
    });
    const { host, client } = peerOf<Files>(granted);
    told.length = 0;
    const reached = (await E(client.bootstrap).give()) as Far<Files>;
    expect(Object.keys((await E(reached).open()) as object)).toEqual(['source', 'sink']);
    client.close();
    await host.closed;
    await expect.poll(() => [...told].sort(), { timeout: 20_000 }).toEqual(['abort', 'return']);
  },
);
