/** Calls on answers that lead nowhere, or to the caller itself: each is answered, and the session goes on. */
import { expect, onTestFinished, test } from 'vitest';
import { HobPeer } from '../../test/hob-peer.ts';
import { RawPeer } from '../../test/wire.ts';
import type { Commit } from '../durable/output-commit.ts';
import { CapError, type Definition, define, openStore } from '../index.ts';
import { openVatsThrough } from '../vats/vats.ts';
import type { WireFault } from '../wire.ts';
import { captp, type DialectName } from './captp.ts';
import { memoryPair } from './transport/memory-pair.ts';

interface Desk {
  write(): void;
  echo(value: unknown): unknown;
  fail(): never;
}
const Desk: Definition<Desk, []> = define('Desk', (bcom) => ({
  write: () => bcom(Desk()),
  echo: (value) => value,
  fail: () => {
    throw new CapError('denied', 'not for you: ask for it');
  },
}));

/** One session on an actor of a durable vat, and the faults of this end. */
async function session(dialect: DialectName, through: (commit: Commit) => Commit = (commit) => commit) {
  const store = await openStore({ memory: true });
  const vats = await openVatsThrough({ store, definitions: [Desk] }, through);
  const desk = await vats.vat('desks').root('desk', () => Desk());
  const [ours, theirs] = memoryPair();
  const faults: WireFault[] = [];
  const host = captp(ours, { dialect, bootstrap: desk, observe: (fault) => faults.push(fault) });
  onTestFinished(async () => {
    host.close();
    await host.closed;
    expect(host.stats()).toEqual({ questions: 0, answers: 0, imports: 0, exports: 0, promises: 0, bytes: 0 });
    expect(faults).toEqual([]);
    await vats.close();
    await store.close();
  });
  return theirs;
}
const quiet = async (): Promise<void> => {
  for (let i = 0; i < 20; i += 1) await new Promise((resolve) => setImmediate(resolve));
};

/** The results of these are looked at apart from those of other calls, because they are about a stream. */
const methods = ['next', 'return', 'close', 'abort'] as const;
/** The second call comes once the first is answered, or in the same frame. */
const moments = ['is there', 'is not there yet'] as const;

for (const method of methods)
  for (const moment of moments) {
    test(`hob.1: "${method}" on an answer that ${moment} fails where it is broken or data, and the session goes on`, async () => {
      const peer = new HobPeer(await session('hob.1'));
      peer.say(['deliver', 0, 'fail', [], 1], ['deliver', 0, 'echo', [7], 2]);
      if (moment === 'is there') await Promise.all([peer.answer(1), peer.answer(2)]);
      peer.say(['deliver', [1], method, [], 3], ['deliver', [2], method, [], 4]);
      expect(await peer.answer(3)).toMatch(/^denied: /);
      expect(await peer.answer(4)).toMatch(/^not-callable: /);
      peer.say(['deliver', 0, 'echo', ['still here'], 5]);
      expect(await peer.answer(5)).toBe('"still here"');
    });

    test(`hob.1: "${method}" on an answer that ${moment} goes to the peer whose object or promise it is, and the session goes on`, async () => {
      const peer = new HobPeer(await session('hob.1'));
      peer.say(
        ['deliver', 0, 'echo', [{ '@': 'object', n: 1 }], 1],
        ['deliver', 0, 'echo', [{ '@': 'promise', n: 2 }], 2],
      );
      if (moment === 'is there') await peer.answer(1);
      peer.say(['deliver', [1], method, [], 3], ['deliver', [2], method, [], 4]);
      const asked = async (target: number): Promise<number> => {
        const said = await peer.until(([name, to, what]) => name === 'deliver' && to === target && what === method);
        return said?.[4] as number;
      };
      // Bytes: what answers with them is a source.
      const bytes = { '@': 'bytes', at: 0, n: 1 };
      peer.raw(new Uint8Array(1));
      peer.say(['return', await asked(1), bytes]);
      peer.raw(new Uint8Array(1));
      peer.say(['return', await asked(2), bytes]);
      expect(await Promise.all([peer.answer(3), peer.answer(4)])).not.toContain('closed');
      peer.say(['deliver', 0, 'echo', ['still here'], 5]);
      expect(await peer.answer(5)).toBe('"still here"');
    });

    test(`captp: "${method}" on an answer that ${moment} fails where it is broken or data, and the session goes on`, async () => {
      const peer = new RawPeer(await session('captp'));
      peer.start();
      await peer.answer('q-1');
      peer.call('q-2', 'o-1', 'fail', []);
      peer.call('q-3', 'o-1', 'echo', [7]);
      if (moment === 'is there') await Promise.all([peer.answer('q-2'), peer.answer('q-3')]);
      peer.call('q-4', 'q-2', method, []);
      peer.call('q-5', 'q-3', method, []);
      expect(await peer.answer('q-4')).toMatch(/^denied: /);
      expect(await peer.answer('q-5')).toMatch(/^not-callable: /);
      peer.call('q-6', 'o-1', 'echo', ['still here']);
      expect(await peer.answer('q-6')).toBe('"still here"');
    });
  }

test('captp: an answer that is data may be an argument, before it is there and after it was forgotten', async () => {
  let held: (() => void) | undefined;
  let commits: 'at once' | 'later' = 'at once';
  const theirs = await session('captp', (commit) => (writes, done) => {
    if (commits === 'at once') return commit(writes, done);
    held = () => commit(writes, done);
  });
  const peer = new RawPeer(theirs);
  peer.start();
  await peer.answer('q-1');
  commits = 'later';
  const slot = { '@qclass': 'slot', index: 0 };
  // Until this is on the disk the next answer is there, and not sent.
  peer.call('q-9', 'o-1', 'write', []);
  peer.call('q-10', 'o-1', 'echo', [{ a: [1] }]);
  await quiet();
  peer.call('q-13', 'o-1', 'echo', [slot], ['q-10']);
  peer.call('q-14', 'o-1', 'echo', [{ in: slot }], ['q-10']);
  await quiet();
  commits = 'at once';
  held?.();
  expect(await peer.answer('q-13')).toBe('{"a":[1]}');
  expect(await peer.answer('q-14')).toBe('{"in":{"a":[1]}}');
  peer.call('q-15', 'o-1', 'echo', [slot], ['q-10']);
  expect(await peer.answer('q-15')).toMatch(/^invalid: /);
  peer.call('q-16', 'o-1', 'echo', ['still here']);
  expect(await peer.answer('q-16')).toBe('"still here"');
});

test('a peer that vanishes with such a call under way costs this end nothing', async () => {
  for (const method of methods) {
    const theirs = await session('hob.1');
    const peer = new HobPeer(theirs);
    peer.say(['deliver', 0, 'fail', [], 1], ['deliver', 0, 'echo', [{ '@': 'promise', n: 2 }], 2]);
    await peer.answer(1);
    peer.say(['deliver', [1], method, [], 3], ['deliver', [2], method, [], 4]);
    peer.leave();
    await quiet();
  }
});
