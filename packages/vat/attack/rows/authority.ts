/**
 * Reaching what was not given: forged and foreign numbers, inherited names, answers that were refused, counts
 * and order that lie.
 */
import { type Attack, numbers, outcomes } from '../attack.ts';
import { type Attacker, Slot } from '../attacker.ts';

const inherited: readonly string[] = [
  'toString',
  'valueOf',
  'constructor',
  'hasOwnProperty',
  'isPrototypeOf',
  '__proto__',
  '__lookupGetter__',
  '__defineGetter__',
  'then',
  'catch',
  'apply',
  'bind',
  'call\u0000',
  '__getMethodNames__',
  'toJSON',
  'Symbol(Symbol.iterator)',
  '@@iterator',
  '[Symbol.toPrimitive]',
  '',
  ' echo',
  'echo ',
  'ECHO',
  'echo\u0000',
  'e\u0301cho',
];

const object = (n: number): Slot => new Slot('object', n);
const promise = (n: number): Slot => new Slot('promise', n);
const yours = (n: number): Slot => new Slot('yours', n);
const answer = (n: number): Slot => new Slot('answer', n);

/** Each on a connection of its own: how it ended, or that it was served still. */
const alone =
  (...acts: readonly ((peer: Attacker) => unknown)[]): Attack['act'] =>
  async (_peer, scene) => {
    const all: string[] = [];
    for (const act of acts) {
      const peer = await scene.enter();
      peer.call(0, 'echo', 1);
      await act(peer);
      all.push(await peer.alive());
    }
    return all;
  };

/** The number of the question that the host asks the attacker's object. */
async function asked(peer: Attacker): Promise<number> {
  let found: number | undefined;
  await peer.until(() => {
    for (const said of peer.heard) {
      if (Array.isArray(said) && said[0] === 'deliver') found = said[4] as number;
      else if ((said as { type?: string }).type === 'CTP_CALL')
        found = Number((said as { questionID: string }).questionID.slice(2));
    }
    return found !== undefined;
  });
  return found ?? 0;
}

export const authority: readonly Attack[] = [
  {
    name: 'calls of numbers that were not given',
    expected: ['closed 4400 a call names a* that was never *'],
    act: alone(
      (peer) => peer.call(7, 'echo'),
      (peer) => peer.call(999_999, 'echo'),
      (peer) => peer.call(2 ** 40, 'echo'),
      (peer) => peer.call({ answer: 999 }, 'echo'),
      (peer) => peer.call({ answer: 2 ** 40 }, 'echo'),
    ),
  },
  {
    name: 'arguments that were not given',
    expected: ['closed 4400 a value names *'],
    act: alone(
      (peer) => peer.call(0, 'echo', yours(7)),
      (peer) => peer.call(0, 'echo', [[yours(2 ** 40)]]),
      (peer) => peer.call(0, 'echo', answer(999)),
    ),
  },
  {
    name: 'what another session was given',
    expected: ['closed 4400 a call names an object that was never exported, or was released'],
    act: async (peer, scene) => {
      const other = await scene.enter();
      await other.outcome(other.call(0, 'make'));
      // Number 1 is an object there, and nothing here.
      return peer.outcome(peer.call(1, 'm'));
    },
  },
  {
    name: 'its own object as the target',
    dialects: ['captp'],
    expected: ['closed 4400 malformed CTP_CALL'],
    act: alone((peer) =>
      peer.raw(
        JSON.stringify({
          type: 'CTP_CALL',
          epoch: 0,
          questionID: 'q-50',
          target: 'o+7',
          method: { body: '["m",[]]', slots: [] },
        }),
      ),
    ),
  },
  {
    name: 'one number as an object and as a promise',
    dialects: ['hob.1'],
    expected: ['closed 4400 one number is used for an object and for a promise'],
    act: alone(
      (peer) => peer.call(0, 'echo', [object(5), promise(5)]),
      (peer) => peer.call(0, 'echo', [promise(5), object(5)]),
    ),
  },
  {
    name: 'a slot that is not what its encoding says',
    dialects: ['captp'],
    expected: ['closed 4400 a slot *'],
    act: async (_peer, scene) => {
      const all: string[] = [];
      for (const [body, slot] of [
        ['["echo",[{"@qclass":"slot","index":0}]]', 'p-1'],
        ['#["echo",["&0"]]', 'o-1'],
        ['#["echo",["&0.Alleged: x"]]', 'o+7'],
        ['#["echo",["$0"]]', 'p+7'],
      ]) {
        const peer = await scene.enter();
        peer.raw(
          JSON.stringify({
            type: 'CTP_CALL',
            epoch: 0,
            questionID: 'q-50',
            target: 'o-1',
            method: { body, slots: [slot] },
          }),
        );
        all.push(await peer.alive());
      }
      return all;
    },
  },
  {
    name: 'inherited names, of an object and of an answer',
    expected: ['answered no-such-method'],
    act: async (peer) => {
      const self = peer.call(0, 'self');
      return outcomes(
        peer,
        inherited.flatMap((name) => [peer.call(0, name), peer.call({ answer: self }, name)]),
      );
    },
  },
  {
    name: 'inherited names, of an answer that is data',
    expected: ['answered no-such-method', 'answered not-callable'],
    act: async (peer) => {
      const data = peer.call(0, 'echo', [{ a: 1 }]);
      return outcomes(
        peer,
        [...inherited, 'a', 'slice', 'push', 'length'].map((name) => peer.call({ answer: data }, name)),
      );
    },
  },
  {
    name: 'symbols and numbers as methods',
    dialects: ['captp'],
    expected: ['answered no-such-method', 'answered invalid'],
    act: async (peer) =>
      Promise.all(
        ['[{"@qclass":"symbol","name":"x"},[]]', '[{"@qclass":"symbol","name":"@@iterator"},[]]', '#["%x",[]]'].map(
          (body, index) => {
            const questionID = `q-${50 + index}`;
            peer.raw(
              JSON.stringify({ type: 'CTP_CALL', epoch: 0, questionID, target: 'o-1', method: { body, slots: [] } }),
            );
            return peer.outcome(50 + index);
          },
        ),
      ),
  },
  {
    name: 'an answer that could not be carried, and calls on it',
    expected: ['answered invalid', 'answered not-callable'],
    act: async (peer) => {
      const held = peer.call(0, 'held');
      const early = [peer.call({ answer: held }, 'admin'), peer.call({ answer: held }, 'slice', 0)];
      const first = await outcomes(peer, [held, ...early]);
      const late = [peer.call({ answer: held }, 'admin'), peer.call({ answer: held }, 'get', 'x')];
      return [...first, ...(await outcomes(peer, late))];
    },
  },
  {
    name: 'errors with paths, passwords and names in them',
    expected: ['answered error'],
    act: async (peer) => {
      const calls = ['throws', 'fails'].map((method) => peer.call(0, method));
      const onThem = calls.map((question) => peer.call({ answer: question }, 'echo', 1));
      return outcomes(peer, [...calls, ...onThem]);
    },
  },
  {
    name: 'records that would pass for a promise, or change what all records are',
    dialects: ['hob.1'],
    expected: ['answered invalid', 'answered ok'],
    act: async (peer) => {
      const all: string[] = [];
      for (const [index, value] of [
        '{"__proto__":{"polluted":1}}',
        '{"a":{"__proto__":{"polluted":1}}}',
        '{"constructor":{"prototype":{"polluted":1}}}',
        '{"then":1}',
        '{"then":{"@":"yours","n":0}}',
        '{"toString":1,"valueOf":2,"hasOwnProperty":3}',
      ].entries()) {
        peer.raw(`[["deliver",0,"echo",[${value}],${index + 1}]]`);
        all.push(await peer.outcome(index + 1));
      }
      if ('polluted' in {}) all.push('records are polluted');
      return all;
    },
  },
  {
    name: 'answers to what was not asked',
    expected: ['closed 4400 an answer names a question that was not asked'],
    act: alone(
      (peer) => peer.raw(peer.frame([peer.returning(77, 1)])),
      (peer) => peer.raw(peer.frame([peer.failing(77, 'x')])),
    ),
  },
  {
    name: 'a question of the host’s answered twice',
    expected: ['closed 4400 an answer names a question that was not asked'],
    act: async (_peer, scene) => {
      const all: string[] = [];
      for (const second of ['return', 'fail', 'during'] as const) {
        const peer = await scene.enter();
        peer.listens = true;
        peer.call(0, 'call', object(5), 7);
        const question = await asked(peer);
        // An object of the host's own: what was sent before has to come home first, and so it stays undecided
        // for a while.
        peer.raw(peer.frame([peer.returning(question, second === 'during' ? yours(0) : 1)]));
        peer.raw(peer.frame([second === 'fail' ? peer.failing(question, 'x') : peer.returning(question, 2)]));
        all.push(await peer.alive());
      }
      return all;
    },
  },
  {
    name: 'question numbers used twice, or falling',
    expected: ['closed 4400 the same question number was used twice: count upwards'],
    act: alone(
      (peer) => {
        const [, text] = peer.asking(0, 'echo', [1]);
        peer.raw(peer.frame([text]));
        peer.raw(peer.frame([text]));
      },
      async (peer) => {
        const [question, text] = peer.asking(0, 'echo', [1]);
        peer.raw(peer.frame([text]));
        await peer.outcome(question);
        peer.raw(peer.frame([peer.finishing(question)]));
        peer.raw(peer.frame([text]));
      },
      (peer) => {
        const [, first] = peer.asking(0, 'echo', [1]);
        const [, second] = peer.asking(0, 'echo', [1]);
        peer.raw(peer.frame([second]));
        peer.raw(peer.frame([first]));
      },
    ),
  },
  {
    name: 'a promise resolved twice, broken after it, another’s promise, unknown ones',
    expected: ['answered ok'],
    act: async (peer) => {
      const settled = peer.call(0, 'echo', promise(3));
      peer.say(
        [3, 3, 99, 4000].map((n) => peer.resolving(n, 'first')),
        1,
      );
      return [await peer.outcome(settled), await peer.alive()];
    },
  },
  {
    name: 'a promise that becomes itself',
    expected: ['answered cycle'],
    act: (peer) => {
      const question = peer.call(0, 'echo', promise(3));
      peer.raw(peer.frame([peer.resolving(3, promise(3))]));
      return peer.outcome(question);
    },
  },
  {
    name: 'promises that become each other, round in a circle',
    expected: ['answered cycle'],
    act: (peer, scene) => {
      const count = scene.size(3, 1000);
      const asked = numbers(count, 1).map((n) => peer.asking(0, 'echo', [promise(n)]));
      peer.say(asked.map(([, text]) => text));
      // Each becomes the answer that is the next one; a number that was settled would be a new promise.
      peer.say(asked.map((_, index) => peer.resolving(index + 1, answer(asked[(index + 1) % count]?.[0] as number))));
      return outcomes(
        peer,
        asked.map(([question]) => question),
      );
    },
  },
  {
    name: 'a promise that becomes the answer which waits for it',
    expected: ['answered cycle'],
    act: (peer) => {
      const question = peer.call(0, 'echo', promise(3));
      peer.raw(peer.frame([peer.resolving(3, answer(question))]));
      return peer.outcome(question);
    },
  },
  {
    name: 'a question in its own arguments',
    expected: ['closed 4400 a value names a question that was not asked, or is done'],
    act: alone((peer) => {
      const [question] = peer.asking(0, 'echo', []);
      peer.call(0, 'echo', answer(question + 1));
    }),
  },
  {
    name: 'counts that are no counts',
    expected: ['closed 4400 malformed *'],
    act: alone(
      (peer) => peer.raw(peer.frame([peer.dropping(1, -1)])),
      (peer) => peer.raw(peer.frame([peer.dropping(1, 0.5)])),
      (peer) => peer.raw(peer.frame([peer.dropping(1, '1')])),
      (peer) => peer.raw(peer.frame([peer.dropping(1, null)])),
      (peer) => peer.raw(peer.frame([peer.dropping(1, 2 ** 60)])),
    ),
  },
  {
    name: 'counts that are too large, unknown numbers, the bootstrap given back',
    expected: ['answered ok'],
    act: async (peer) => {
      await peer.outcome(peer.call(0, 'make'));
      peer.say(
        [0, 1, 1, 55, 2 ** 40]
          .map((n) => peer.dropping(n, 1_000_000))
          .concat([peer.finishing(999), peer.finishing(999)]),
        2,
      );
      return [await peer.alive(), await peer.outcome(peer.call(0, 'make'))];
    },
  },
  {
    name: 'an object given back while it is given again',
    expected: [
      'answered ok',
      'answered no-such-object',
      'closed 4400 a call names an object that was never exported, or was released',
    ],
    act: async (peer, scene) => {
      const all: string[] = [];
      for (let i = 0; i < scene.size(20, 1000) && peer.closed === undefined; i += 1) {
        const self = peer.call(0, 'self');
        peer.raw(peer.frame([peer.dropping(1, 1)]));
        all.push(await peer.outcome(peer.call({ answer: self }, 'echo', 1)));
      }
      return all;
    },
  },
  {
    name: 'answers used after it said that it was done with them',
    // Over `captp` an honest peer may name an answer that was forgotten meanwhile: its call is refused, the
    // connection stays.
    expected: [
      'answered not-callable',
      'closed 4400 a value names a question that was not asked, or is done',
      'answered invalid',
    ],
    act: async (peer) => {
      const self = peer.call(0, 'self');
      await peer.outcome(self);
      peer.raw(peer.frame([peer.finishing(self)]));
      const late = await peer.outcome(peer.call({ answer: self }, 'echo', 1));
      return [late, await peer.outcome(peer.call(0, 'echo', answer(self)))];
    },
  },
  {
    name: '`__flush__` reaches no object',
    // Over `captp` an answer that is data may be forgotten by the time when it is called.
    expected: ['answered ok', 'answered not-callable'],
    act: async (peer) => {
      const self = peer.call(0, 'self');
      const data = peer.call(0, 'echo', 1);
      return outcomes(
        peer,
        [0, { answer: self }, { answer: data }].map((to) => peer.call(to, '__flush__')),
      );
    },
  },
  {
    name: '`__flush__` of an answer that is not there, where no promise may be made',
    meter: { promises: 0 },
    expected: ['answered limit', 'answered ok'],
    act: async (peer) => {
      const calls = [peer.asking(0, 'echo', [1])];
      calls.push(peer.asking({ answer: calls[0]?.[0] as number }, '__flush__', []));
      peer.say(calls.map(([, text]) => text));
      return [await peer.outcome(calls[1]?.[0] as number), await peer.alive()];
    },
  },
  {
    name: 'it says good-bye and goes on talking',
    dialects: ['captp'],
    expected: ['closed 1000 *'],
    act: (peer) => {
      peer.raw(JSON.stringify({ type: 'CTP_DISCONNECT', epoch: 0, reason: { body: '"x"', slots: [] } }));
      peer.call(0, 'add', 'x');
      return peer.end();
    },
  },
];
