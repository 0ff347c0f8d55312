/** Streams over the wire: pulled, cancelled by either side, ended by revocation. */
import { describe, expect, test } from 'vitest';
import { Guard } from '../../test/guard.ts';
import { closedAfterEachTest, openForEachTest } from '../../test/opened.ts';
import { cut } from '../forwarder.ts';
import {
  type ByteSource,
  CapError,
  type Connection,
  captp,
  driver,
  E,
  type Far,
  iterate,
  type Vats,
} from '../index.ts';
import type { DialectName } from './captp.ts';
import { memoryPair } from './transport/memory-pair.ts';

let vats: Vats;
openForEachTest((opened) => ({ vats } = opened));
const open = closedAfterEachTest<Connection>();

/** So many bytes, and what was asked for. */
function source(total: number) {
  const pulls: number[] = [];
  let returned = 0;
  let given = 0;
  const stream = driver<ByteSource>({
    next: ([max = 1000]) => {
      pulls.push(max);
      const length = Math.min(max, total - given);
      given += length;
      return Promise.resolve(length === 0 ? undefined : new Uint8Array(length).fill(pulls.length));
    },
    return: () => {
      returned += 1;
      return Promise.resolve();
    },
  });
  return { stream, pulls, returned: () => returned };
}
function served<T extends object>(
  dialect: DialectName,
  bootstrap: object,
): Connection & { readonly bootstrap: Far<T> } {
  const [a, b] = memoryPair();
  const client = captp<T>(b, { dialect });
  open.push(captp(a, { dialect, bootstrap }), client);
  return client;
}

describe.each<DialectName>(['hob.1', 'captp'])('%s', (dialect) => {
  test('the reader sets the pace, and gets every byte', async () => {
    const { stream, pulls, returned } = source(10_500);
    const { bootstrap } = served<ByteSource>(dialect, stream);
    let got = 0;
    for await (const chunk of iterate(bootstrap)) {
      got += chunk.length;
      // Nobody reads ahead of the reader.
      expect(pulls.length).toBe(Math.ceil(got / 1000));
    }
    expect(got).toBe(10_500);
    expect(returned()).toBe(0);
    expect(((await E(source(9).stream).next(4)) as Uint8Array).length).toBe(4);
  });

  test('a reader that leaves early tells the source', async () => {
    const { stream, returned } = source(10_000);
    const { bootstrap } = served<ByteSource>(dialect, stream);
    for await (const chunk of iterate(bootstrap)) if (chunk.length > 0) break;
    expect(returned()).toBe(1);
  });

  test('a source that breaks ends the reader with its reason', async () => {
    const broken = driver<ByteSource>({
      next: () => Promise.reject(new CapError('revoked', 'this grant was revoked')),
      return: () => Promise.resolve(),
    });
    const { bootstrap } = served<ByteSource>(dialect, broken);
    await expect(iterate(bootstrap).next()).rejects.toMatchObject({ code: 'revoked' });
  });
});

test('a cut grant ends a pull that is under way, also across the wire', async () => {
  const never = driver<ByteSource>({
    next: (_args, { signal }) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error))),
    return: () => Promise.resolve(),
  });
  const vat = vats.vat('granter');
  const forwarder = await vat.spawn(Guard('grant-1', never));
  const { bootstrap } = served<ByteSource>('hob.1', forwarder as object);
  const pulled = expect(E(bootstrap).next()).rejects.toMatchObject({ code: 'revoked' });
  await new Promise((resolve) => setTimeout(resolve, 10));
  await vat.turn(() => cut('grant-1', new CapError('revoked', 'this grant was revoked')));
  await pulled;
});

test('64 MB go by, and nothing of them stays', async () => {
  const chunk = new Uint8Array(1 << 20).fill(3);
  let left = 64;
  const { bootstrap, stats } = served<ByteSource>(
    'hob.1',
    driver<ByteSource>({
      next: () => Promise.resolve(left-- > 0 ? chunk : undefined),
      return: () => Promise.resolve(),
    }),
  );
  let got = 0;
  for await (const part of iterate(bootstrap)) got += part.length;
  expect(got).toBe(64 << 20);
  await new Promise(setImmediate);
  expect(stats().bytes).toBeLessThan(10_000);
});
