/**
 * Memory that a peer makes the host keep: calls under way, answers, tables, texts. All of it is counted, and has an
 * end.
 */
import { type Attack, numbers, outcomes } from '../attack.ts';
import { type Attacker, Slot } from '../attacker.ts';
import { shapes } from './cost.ts';

const full = 'closed 4400 this connection keeps more than it may: connect again';
const object = (n: number): Slot => new Slot('object', n);
const answer = (n: number): Slot => new Slot('answer', n);

/** In tests the same with a hundredth of it. */
const little = { memoryBytes: 640 << 10 };

/** Says the same again and again, until it is closed or said it so often; lets the host work in between. */
async function until(
  peer: Attacker,
  scene: Parameters<Attack['act']>[1],
  rounds: number,
  round: (index: number) => unknown,
): Promise<string> {
  for (let index = 0; index < rounds && peer.closed === undefined; index += 1) {
    await round(index);
    if (peer.unsent > 4 << 20 || index % 16 === 15) await scene.pause(peer.unsent > 4 << 20 ? 20 : 0);
  }
  await scene.weigh();
  return peer.closed === undefined ? peer.alive() : peer.end();
}

export const keeping: readonly Attack[] = [
  {
    name: '50,000 calls that are never answered',
    expected: ['answered ok', full],
    act: async (peer, scene) => {
      const calls = numbers(scene.size(2000, 50_000)).map(() => peer.asking(0, 'stuck', []));
      peer.say(
        calls.map(([, text]) => text),
        2000,
      );
      const last = await peer.alive();
      await scene.weigh();
      return last;
    },
  },
  {
    name: 'more unanswered calls than allowed',
    limits: { questions: 500 },
    expected: ['answered limit', full],
    act: async (peer, scene) => {
      const calls = numbers(scene.size(600, 65_600)).map(() => peer.asking(0, 'stuck', []));
      peer.say(
        calls.map(([, text]) => text),
        2000,
      );
      return peer.outcome(calls.at(-1)?.[0] as number);
    },
  },
  {
    name: 'answers that it never says it is done with',
    dialects: ['hob.1'],
    limits: little,
    expected: [full],
    act: (peer, scene) =>
      until(peer, scene, 1000, () => peer.outcome(peer.call(0, 'fresh', scene.size(10_000, 1_000_000)))),
  },
  {
    name: 'answers asked for in one frame, read, and never done',
    dialects: ['hob.1'],
    limits: little,
    // Which of the two is noticed first is a matter of how fast it reads.
    expected: [full, 'closed 4400 the peer does not read what it asked for'],
    act: async (peer, scene) => {
      const letters = scene.size(10_000, 900_000);
      const calls = numbers(scene.size(100, 80)).map(() => peer.asking(0, 'fresh', [letters]));
      peer.say(calls.map(([, text]) => text));
      return peer.end();
    },
  },
  {
    name: 'answers that are data, to a peer that never says that it is done',
    dialects: ['captp'],
    limits: little,
    expected: ['answered ok'],
    act: (peer, scene) => until(peer, scene, scene.size(200, 2000), () => peer.outcome(peer.call(0, 'fresh', 10_000))),
  },
  ...shapes.map(
    ([name, argument, most]): Attack => ({
      name: `calls that wait, each with ${name}`,
      dialects: ['hob.1'],
      limits: little,
      // A peer that goes on sending and does not read the close is cut off a second later.
      expected: [full, 'closed 1006 '],
      act: (peer, scene) => {
        const waits = peer.call(0, 'stuck');
        const text = argument(scene.size(Math.ceil(most / 50), most));
        const [question] = peer.asking(0, 'stuck', []);
        return until(peer, scene, 2000, (index) =>
          peer.raw(`[["deliver",[${waits}],"echo",[${text}],${question + index}]]`),
        );
      },
    }),
  ),
  {
    name: 'large calls that wait, in frames that are filled up with small ones',
    dialects: ['hob.1'],
    limits: little,
    expected: [full],
    act: (peer, scene) => {
      const waits = peer.call(0, 'stuck');
      const [question] = peer.asking(0, 'stuck', []);
      const text = 'x'.repeat(scene.size(20_000, 900_000));
      const filling = numbers(4000).map(() => '["done",1000000]');
      return until(peer, scene, 2000, (index) =>
        peer.raw(`[["deliver",[${waits}],"echo",[["${text}${index}"]],${question + index}],${filling}]`),
      );
    },
  },
  {
    name: 'calls that wait, in the dialect captp',
    dialects: ['captp'],
    limits: little,
    expected: [full],
    act: (peer, scene) => {
      const waits = peer.call(0, 'stuck');
      return until(peer, scene, 5000, () =>
        peer.call(
          { answer: waits },
          'echo',
          numbers(scene.size(2000, 60_000)).map(() => ({})),
        ),
      );
    },
  },
  {
    name: 'objects of its own, without end',
    limits: little,
    expected: [full, 'answered limit'],
    act: async (peer, scene) => {
      let last = 0;
      const ended = await until(peer, scene, scene.size(100, 100), (index) => {
        last = peer.call(
          0,
          'stuck',
          numbers(scene.size(100, 2000), index * 2000 + 1).map((n) => object(n)),
        );
      });
      return ended === 'answered ok' ? peer.outcome(last) : ended;
    },
  },
  {
    name: 'promises of its own that it never resolves',
    limits: little,
    expected: [full, 'answered limit'],
    act: async (peer, scene) => {
      const ended = await until(peer, scene, 40, (index) =>
        peer.call(
          0,
          'stuck',
          numbers(scene.size(100, 2000), index * 2000 + 1).map((n) => new Slot('promise', n)),
        ),
      );
      return ended;
    },
  },
  {
    name: 'objects of the host’s that it never gives back',
    limits: little,
    expected: [full, 'answered limit'],
    act: async (peer, scene) => {
      const all: string[] = [];
      const ended = await until(peer, scene, scene.size(40, 300), async () => {
        const calls = numbers(250).map(() => peer.asking(0, 'make', []));
        peer.say(calls.map(([, text]) => text));
        all.push(await peer.outcome(calls.at(-1)?.[0] as number));
      });
      return ended === 'answered ok' ? (all.at(-1) as string) : ended;
    },
  },
  {
    name: 'promises of the host’s that are settled and that it never gives back',
    dialects: ['hob.1'],
    limits: little,
    expected: [full, 'answered limit'],
    act: (peer, scene) =>
      until(peer, scene, scene.size(40, 600), async () => {
        const calls = numbers(200).map(() => {
          const later = peer.asking(0, 'fresh', [1]);
          const held = peer.asking(0, 'list', [answer(later[0])]);
          return [later[1], held[1]] as const;
        });
        peer.say(calls.flat());
        await peer.alive();
      }),
  },
  {
    name: 'one promise of the host’s, given and given back without end',
    dialects: ['hob.1'],
    limits: little,
    expected: ['answered ok'],
    act: async (peer, scene) => {
      const stuck = peer.call(0, 'stuck');
      return until(peer, scene, scene.size(300, 30_000), async () => {
        peer.listens = true;
        const question = peer.call(0, 'list', answer(stuck));
        await peer.outcome(question);
        const said = peer.heard.findLast((each) => Array.isArray(each) && each[1] === question);
        peer.heard.length = 0;
        const [{ n }] = (said as [string, number, [{ n: number }]])[2];
        peer.say([peer.finishing(question), peer.dropping(n, 1)]);
      });
    },
  },
  {
    name: '1,000,000 objects, each given back at once',
    limits: { exports: 500 },
    expected: ['answered ok'],
    act: async (peer, scene) => {
      const atOnce = scene.size(100, 1000);
      const outcomes = new Set<string>();
      for (let given = 0; given < scene.size(1000, 1_000_000) && peer.closed === undefined; given += atOnce) {
        const calls = numbers(atOnce).map(() => peer.asking(0, 'make', []));
        peer.say(calls.map(([, text]) => text));
        outcomes.add(await peer.outcome(calls.at(-1)?.[0] as number));
        const dones = peer.dialect === 'hob.1' ? calls.map(([question]) => peer.finishing(question)) : [];
        peer.say([...dones, ...numbers(atOnce, given + 1).map((n) => peer.dropping(n, 1))]);
        if (given % 100_000 === 0) await scene.weigh();
      }
      return [...outcomes, await peer.outcome(peer.call(0, 'make'))];
    },
  },
  {
    name: 'empty binary frames',
    dialects: ['hob.1'],
    limits: little,
    expected: ['answered ok'],
    act: (peer, scene) =>
      until(peer, scene, scene.size(50, 1000), () => {
        for (let i = 0; i < 200; i += 1) peer.raw(new Uint8Array(0));
      }),
  },
  {
    name: 'binary frames of one byte, for a frame that never comes',
    dialects: ['hob.1'],
    limits: little,
    expected: [full],
    act: (peer, scene) =>
      until(peer, scene, 2000, () => {
        for (let i = 0; i < 200; i += 1) peer.raw(new Uint8Array(1));
      }),
  },
  {
    name: 'bytes for a frame that never comes',
    dialects: ['hob.1'],
    limits: little,
    expected: [full, 'closed 1009 the bytes of one frame may be * send a stream'],
    act: (peer, scene) => until(peer, scene, 100, () => peer.raw(new Uint8Array(scene.size(100_000, 1 << 20)))),
  },
  {
    name: 'callbacks that are never answered',
    limits: little,
    expected: [full],
    act: (peer, scene) =>
      until(peer, scene, scene.size(3000, 200_000) / 10, async () => {
        const calls = numbers(10).map(() => peer.asking(0, 'call', [object(5), 7]));
        peer.say(calls.map(([, text]) => text));
        if (peer.unsent > 1 << 20) await scene.pause(5);
      }),
  },
  {
    name: 'notices that the dialect has answered and that are not',
    dialects: ['captp'],
    limits: little,
    expected: [full],
    act: (peer, scene) =>
      until(peer, scene, scene.size(300, 20_000), async () => {
        peer.say(numbers(10).map(() => peer.asking(0, 'notice', [object(5), 7])[1]));
        if (peer.unsent > 1 << 20) await scene.pause(5);
      }),
  },
  {
    name: 'callbacks that fail with a million letters',
    expected: ['answered error'],
    act: async (peer, scene) => {
      peer.listens = true;
      const all: string[] = [];
      for (let i = 0; i < scene.size(3, 60); i += 1) {
        const question = peer.call(0, 'call', object(5), 7);
        let theirs = 0;
        await peer.until(() => {
          for (const said of peer.heard)
            if (Array.isArray(said) && said[0] === 'deliver') theirs = said[4] as number;
            else if ((said as { type?: string }).type === 'CTP_CALL')
              theirs = Number((said as { questionID: string }).questionID.slice(2));
          return theirs > 0;
        });
        peer.heard.length = 0;
        peer.raw(peer.frame([peer.failing(theirs, 'x'.repeat(1_000_000) + i)]));
        all.push(await peer.outcome(question));
      }
      await scene.weigh();
      return all;
    },
  },
  {
    name: 'answers that fail, without end',
    dialects: ['captp'],
    expected: ['answered ok'],
    act: (peer, scene) =>
      until(peer, scene, scene.size(20, 300), async () => {
        const calls = numbers(100).map(() => peer.asking(0, 'none', []));
        peer.say(calls.map(([, text]) => text));
        await peer.outcome(calls.at(-1)?.[0] as number);
      }),
  },
  {
    name: 'a message budget that is spent',
    meter: { messages: 50, promises: 50 },
    expected: ['answered limit', 'answered ok'],
    act: async (peer) => {
      const stuck = peer.call(0, 'stuck');
      const calls = numbers(100).map(() => peer.call({ answer: stuck }, 'echo', 1));
      return [...new Set(await outcomes(peer, calls.slice(-20))), await peer.alive()].slice(0, 1);
    },
  },
  {
    name: 'it vanishes midway, with calls of both sides open',
    expected: ['closed *'],
    act: async (peer, scene) => {
      for (let i = 0; i < scene.size(20, 500); i += 1) {
        peer.call(0, 'call', object(i + 1), new Slot('promise', 10_000 + i));
        peer.call(0, 'stuck');
      }
      await peer.alive();
      peer.raw('[["deliver"');
      peer.vanish();
      return peer.end();
    },
  },
];
