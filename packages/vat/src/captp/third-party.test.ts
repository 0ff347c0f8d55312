/** Calls and values that go through this end from one peer to another. */
import { expect, onTestFinished, test } from 'vitest';
import { HobPeer } from '../../test/hob-peer.ts';
import { RawPeer } from '../../test/wire.ts';
import { driver } from '../index.ts';
import { type Connected, captp, type DialectName } from './captp.ts';
import { memoryPair } from './transport/memory-pair.ts';

interface Meeting {
  leave(value: unknown): void;
  take(): unknown;
}

/** Two peers, one of which leaves what the other takes. */
function meeting(dialect: DialectName = 'hob.1') {
  let left: unknown;
  const bootstrap = driver<Meeting>({
    leave: ([value]) => {
      left = value;
    },
    take: () => left,
  });
  const open = (as: DialectName) => {
    const [ours, theirs] = memoryPair();
    const made = { ours: captp<object>(ours, { bootstrap, dialect: as }), theirs };
    onTestFinished(async () => {
      made.ours.close();
      await made.ours.closed;
    });
    return made;
  };
  return { sender: open('hob.1'), holder: open(dialect) };
}
const quiet = async (): Promise<void> => {
  for (let i = 0; i < 20; i += 1) await new Promise((resolve) => setImmediate(resolve));
};
const tables = ({ stats }: Connected<object>) => {
  const { questions, answers, bytes } = stats();
  return { questions, answers, bytes };
};

test.each([
  ['an object', { '@': 'object', n: 1 }],
  ['a promise', { '@': 'promise', n: 1 }],
])('a call that wants no answer wants none of %s of another peer’s either', async (_name, value) => {
  const { sender, holder } = meeting();
  const [a, b] = [new HobPeer(sender.theirs), new HobPeer(holder.theirs)];
  b.say(['deliver', 0, 'leave', [[value]], 1]);
  await b.answer(1);
  a.say(['deliver', 0, 'take', [], 1]);
  const [given] = JSON.parse(await a.answer(1)) as [{ n: number }];
  a.say(['done', 1]);
  await quiet();
  const before = [tables(sender.ours), tables(holder.ours)];
  for (let i = 0; i < 100; i += 1) a.say(['deliver', given.n, 'hear', [i, 'x'.repeat(1000)]]);
  await b.until((said) => said[2] === 'hear' && (said[3] as unknown[])[0] === 99);
  expect(
    b.said.filter(([, , method]) => method === 'hear').map((said) => [said.length, (said[3] as unknown[])[0]]),
  ).toEqual(Array.from({ length: 100 }, (_, i) => [4, i]));
  // Nobody is going to answer them: nothing may be kept for them.
  expect([tables(sender.ours), tables(holder.ours)]).toEqual(before);
  // A call that wants an answer gets it.
  a.say(['deliver', given.n, 'hear', ['asked'], 2]);
  const asked = await b.until(([, , method, args]) => method === 'hear' && (args as unknown[])[0] === 'asked');
  b.say(['return', asked?.[4], 'heard']);
  expect(await a.answer(2)).toBe('"heard"');
});

test('in a dialect without such calls the answer is asked for, paid for until it comes, and told nobody', async () => {
  const { sender, holder } = meeting('captp');
  const [a, b] = [new HobPeer(sender.theirs), new RawPeer(holder.theirs)];
  b.call('q-1', 'o-1', 'leave', [[{ '@qclass': 'slot', index: 0 }]], ['o+1']);
  await b.answer('q-1');
  a.say(['deliver', 0, 'take', [], 1]);
  const [given] = JSON.parse(await a.answer(1)) as [{ n: number }];
  a.say(['done', 1]);
  await quiet();
  const before = tables(sender.ours);
  a.say(['deliver', given.n, 'hear', ['x'.repeat(1000)]]);
  const asked = await b.until(({ type }) => type === 'CTP_CALL');
  await quiet();
  expect(tables(sender.ours).bytes).toBeGreaterThan(before.bytes + 1000);
  const said = a.said.length;
  b.send({ type: 'CTP_RETURN', epoch: 0, answerID: asked?.questionID, result: { body: '1', slots: [] } });
  await quiet();
  expect(tables(sender.ours)).toEqual(before);
  expect(a.said).toHaveLength(said);
});
