/**
 * Frames that are cheap to send and dear to hear: nesting, tokens, digits, errors, and data that is shared
 * all the way down.
 */
import { type Attack, numbers, outcomes } from '../attack.ts';
import { type Attacker, Slot } from '../attacker.ts';

/** A call of `echo` with an argument that is given as text. */
function echo(peer: Attacker, argument: string, method: string = 'echo'): number {
  const [question, text] = peer.asking(0, method, []);
  if (peer.dialect === 'hob.1') peer.raw(peer.frame([text.replace(/\[\],(?=\d+\]$)/, `[${argument}],`)]));
  else {
    const message = JSON.parse(text) as { method: { body: string } };
    message.method.body = `["${method}",[${argument}]]`;
    peer.raw(JSON.stringify(message));
  }
  return question;
}

const many = (text: string, count: number): string => `[${Array.from({ length: count }, () => text).join(',')}]`;
const nested = (open: string, close: string, depth: number): string => open.repeat(depth) + close.repeat(depth);

/** Shapes that take much more memory or time than text, with how many of them are at most a frame. */
export const shapes: readonly (readonly [name: string, argument: (count: number) => string, most: number])[] = [
  ['empty lists', (count) => many('[]', count), 66_300],
  ['empty records', (count) => many('{}', count), 66_300],
  ['numbers', (count) => many('1', count), 199_000],
  ['fractions', (count) => many('1.5', count), 199_000],
  ['records with a key', (count) => many('{"a":1}', count), 53_000],
  ['records with keys of their own', (count) => `[${numbers(count).map((n) => `{"k${n}":1}`)}]`, 8_450],
  ['one record with as many keys', (count) => `{${numbers(count).map((n) => `"k${n}":1`)}}`, 8_600],
  ['keys that are large numbers', (count) => `{${numbers(count).map((n) => `"${4_294_900_000 - n * 7}":1`)}}`, 8_600],
  ['inherited names as keys', (count) => many('{"toString":1}', count), 50_000],
  ['short strings', (count) => `[${numbers(count).map((n) => `"s${n}"`)}]`, 57_000],
  ['letters that are escaped', (count) => `"${'\\u00e9'.repeat(count)}"`, 100_000],
  ['quotes and slashes', (count) => `"${'\\"\\\\'.repeat(count)}"`, 100_000],
];

export const cost: readonly Attack[] = [
  {
    name: 'nesting of 100,000, closed and open',
    expected: ['closed 4400 *may be nested 128 deep*'],
    act: async (_peer, scene) => {
      const all: string[] = [];
      for (const text of [
        nested('[', ']', 100_000),
        '['.repeat(100_000),
        nested('{"a":', '}', 100_000).replace('}', '1}'),
        nested('[{"a":', '}]', 50_000).replace('}', '1}'),
      ]) {
        const peer = await scene.enter();
        echo(peer, text);
        all.push(await peer.end());
      }
      return all;
    },
  },
  {
    name: 'nesting of 200: what passes the count and not the walk',
    expected: ['answered invalid'],
    act: (peer) => peer.outcome(echo(peer, nested('[', ']', 200))),
  },
  {
    name: 'more tokens than allowed',
    expected: ['closed 4400 *may have 200000 tokens: send less at a time'],
    act: async (_peer, scene) => {
      const all: string[] = [];
      for (const part of ['[]', '1', '""', '{}']) {
        const peer = await scene.enter();
        echo(peer, many(part, 200_001));
        all.push(await peer.end());
      }
      return all;
    },
  },
  {
    name: 'more keys that nobody has used before than allowed, one record of them and records of one',
    expected: ['closed 4400 *may have 200000 tokens: send less at a time'],
    act: async (_peer, scene) => {
      const all: string[] = [];
      for (const text of [
        `{${numbers(13_000).map((n) => `"new${n}":1`)}}`,
        `[${numbers(13_000).map((n) => `{"own${n}":1}`)}]`,
      ]) {
        const peer = await scene.enter();
        echo(peer, text);
        all.push(await peer.end());
      }
      return all;
    },
  },
  ...shapes.map(
    ([name, argument, most]): Attack => ({
      name: `as much as a frame may hold: ${name}`,
      expected: ['answered ok', 'answered limit'],
      act: async (peer, scene) => peer.outcome(echo(peer, argument(scene.size(Math.ceil(most / 20), most)))),
    }),
  ),
  {
    name: 'a bigint of a million digits',
    expected: ['answered invalid'],
    act: (peer) => peer.outcome(echo(peer, bigint(peer, '9'.repeat(1_000_000)))),
  },
  {
    name: 'as many bigints of 16,384 digits as a frame may hold',
    expected: ['answered ok'],
    act: (peer) => peer.outcome(echo(peer, many(bigint(peer, '9'.repeat(16_384)), 8))),
  },
  {
    name: 'more bigints of 16,384 digits than a frame may hold',
    expected: ['answered limit'],
    act: async (peer) =>
      outcomes(
        peer,
        [9, 60].map((count) => echo(peer, many(bigint(peer, '9'.repeat(16_384)), count))),
      ),
  },
  {
    name: 'bigints of two answers in one answer, more than a frame may hold',
    dialects: ['hob.1'],
    expected: ['answered limit'],
    act: async (peer) => {
      const five = echo(peer, many(bigint(peer, '9'.repeat(16_384)), 5));
      const twice = peer.call(0, 'echo', [new Slot('answer', five), new Slot('answer', five)]);
      const first = await peer.outcome(five);
      return first === 'answered ok' ? peer.outcome(twice) : first;
    },
  },
  {
    name: 'small bigints, as many as there is room for',
    expected: ['answered ok', 'answered limit'],
    act: (peer) => peer.outcome(echo(peer, many(bigint(peer, '9'.repeat(20)), 12_000))),
  },
  {
    name: 'more short strings, lists and records than allowed',
    expected: ['closed 4400 *may have 200000 tokens: send less at a time'],
    act: async (_peer, scene) => {
      const all: string[] = [];
      for (const text of [
        `[${numbers(58_000).map((n) => `"s${n}"`)}]`,
        many('[]', 67_000),
        many('{"a":"b"}', 54_000),
      ]) {
        const peer = await scene.enter();
        echo(peer, text);
        all.push(await peer.end());
      }
      return all;
    },
  },
  {
    name: '20,000 promises in one frame',
    expected: ['answered ok'],
    act: async (peer, scene) => {
      const count = 20_000;
      const slots = numbers(count, 1).map((n) => new Slot('promise', n));
      const question = peer.call(0, 'echo', slots);
      const first = await peer.outcome(question);
      await scene.weigh();
      const still = await peer.alive();
      return first === 'answered limit' ? still : `all were taken: ${first}`;
    },
  },
  {
    name: 'as many promises as one frame may have',
    expected: ['answered ok'],
    act: async (peer, scene) => {
      const slots = numbers(4096, 1).map((n) => new Slot('promise', n));
      const first = await peer.outcome(peer.call(0, 'echo', slots));
      await scene.weigh();
      return [first, await peer.alive()];
    },
  },
  {
    name: 'one promise named 20,000 times',
    expected: ['answered ok'],
    act: (peer, scene) =>
      peer.outcome(
        peer.call(
          0,
          'echo',
          numbers(scene.size(2000, 20_000)).map(() => new Slot('promise', 1)),
        ),
      ),
  },
  {
    name: 'the most operations that a frame may have',
    dialects: ['hob.1'],
    expected: ['answered ok'],
    act: async (peer) => {
      const asked = numbers(4096).map(() => peer.asking(0, 'echo', [1]));
      peer.say(asked.map(([, text]) => text));
      return outcomes(
        peer,
        asked.map(([question]) => question),
      );
    },
  },
  {
    name: 'calls that fail, as many as a frame may have',
    dialects: ['hob.1'],
    expected: ['answered no-such-method', 'answered error', 'answered ok'],
    act: async (peer) => {
      for (const method of ['none', 'toString', 'throws', 'fails']) {
        const asked = numbers(4096).map(() => peer.asking(0, method, []));
        peer.say(asked.map(([, text]) => text));
        await peer.outcome(asked.at(-1)?.[0] as number);
      }
      return peer.alive();
    },
  },
  {
    name: 'one operation more than a frame may have',
    dialects: ['hob.1'],
    expected: ['closed 4400 a frame may have 4096 operations: send several'],
    act: (peer) => {
      peer.raw(`[${numbers(4097).map(() => '["done",1]')}]`);
      return peer.end();
    },
  },
  {
    name: 'breaks and fails of what is unknown, as many as a frame may have',
    dialects: ['hob.1'],
    expected: ['answered ok'],
    act: (peer) => {
      peer.raw(`[${numbers(4096).map((n) => `["break",${n},"error","${'x'.repeat(200)}"]`)}]`);
      return peer.alive();
    },
  },
  {
    name: 'drops and dones of 100,000 numbers in one operation',
    dialects: ['hob.1'],
    expected: ['answered ok'],
    act: (peer) => {
      peer.raw(`[["drop",${numbers(80_000, 10_000)}],["done",${numbers(90_000, 1)}]]`);
      return peer.alive();
    },
  },
  {
    name: 'errors as values, more than allowed',
    expected: ['answered invalid'],
    act: (peer) => {
      const error =
        peer.dialect === 'hob.1'
          ? '{"@":"error","code":"x","message":"y"}'
          : '{"@qclass":"error","errorId":"e","message":"x: y","name":"Error"}';
      return peer.outcome(echo(peer, many(error, 10_000)));
    },
  },
  {
    name: 'symbols with new names, of which nothing is kept',
    expected: ['answered ok'],
    act: async (peer, scene) => {
      const all: string[] = [];
      for (const from of [0, 50_000]) {
        const symbols = numbers(scene.size(1000, 20_000), from).map((n) =>
          peer.dialect === 'hob.1' ? `{"@":"symbol","v":"attack-${n}"}` : `{"@qclass":"symbol","name":"attack-${n}"}`,
        );
        all.push(await peer.outcome(echo(peer, `[${symbols}]`)));
        await scene.weigh();
      }
      const still = await peer.alive();
      return still === 'answered ok' ? all : [...all, still];
    },
  },
  {
    name: 'a method with a name of a million letters',
    expected: ['answered no-such-method'],
    act: async (peer, scene) => {
      const all = await outcomes(
        peer,
        numbers(scene.size(3, 100)).map((n) => peer.call(0, 'x'.repeat(1_000_000) + n)),
      );
      await scene.weigh();
      return all;
    },
  },
  {
    name: 'answers that hold the answer before them twice, forty deep',
    dialects: ['hob.1'],
    expected: ['answered ok', 'answered limit', 'answered invalid'],
    act: async (peer, scene) => {
      const deep: string[] = [];
      let [last, text] = peer.asking(0, 'echo', [['x']]);
      deep.push(text);
      for (let i = 0; i < scene.size(20, 40); i += 1) {
        [last, text] = peer.asking(0, 'echo', [[new Slot('answer', last), new Slot('answer', last)]]);
        deep.push(text);
      }
      peer.say(deep);
      return [await peer.outcome(last), await peer.alive()];
    },
  },
  {
    name: 'promises in data that holds the answer before it twice, forty deep',
    dialects: ['hob.1'],
    expected: ['answered ok', 'answered limit', 'answered invalid'],
    act: async (peer, scene) => {
      const deep: string[] = [];
      let [last, text] = peer.asking(0, 'echo', [[new Slot('promise', 1)]]);
      deep.push(text);
      for (let i = 0; i < scene.size(20, 40); i += 1) {
        [last, text] = peer.asking(0, 'echo', [[new Slot('answer', last), new Slot('answer', last)]]);
        deep.push(text);
      }
      peer.say(deep);
      return [await peer.outcome(last), await peer.alive()];
    },
  },
  {
    name: 'one long answer, named 20,000 times',
    dialects: ['hob.1'],
    expected: ['answered limit'],
    act: async (peer, scene) => {
      const long = peer.call(0, 'fresh', scene.size(100_000, 900_000));
      await peer.outcome(long);
      const slots = numbers(scene.size(2000, 20_000)).map(() => new Slot('answer', long));
      return peer.outcome(peer.call(0, 'echo', slots));
    },
  },
  {
    name: 'one answer of bytes, named 2,000 times',
    dialects: ['hob.1'],
    expected: ['answered limit'],
    act: async (peer, scene) => {
      const long = peer.call(0, 'bytes', scene.size(100_000, 1_000_000));
      await peer.outcome(long);
      const slots = numbers(2000).map(() => new Slot('answer', long));
      return peer.outcome(peer.call(0, 'echo', slots));
    },
  },
  {
    name: 'a chain of calls, each on the answer before it',
    expected: ['answered not-callable', 'answered limit'],
    act: async (peer, scene) => {
      const first = peer.asking(0, 'echo', ['data']);
      const chain = [first];
      for (let i = 1; i < scene.size(3000, 20_000); i += 1)
        chain.push(peer.asking({ answer: (chain.at(-1) as readonly [number, string])[0] }, 'echo', ['data']));
      peer.say(chain.map(([, text]) => text));
      return peer.outcome(chain.at(-1)?.[0] as number);
    },
  },
  {
    name: 'a chain of promises, each of which becomes the next, resolved from its end and from its beginning',
    expected: ['answered ok'],
    act: async (_peer, scene) => {
      const all: string[] = [];
      for (const backwards of [true, false]) {
        const peer = await scene.enter();
        const count = scene.size(1000, 10_000);
        const asked = numbers(count, 1).map((n) => peer.asking(0, 'echo', [new Slot('promise', n)]));
        peer.say(asked.map(([, text]) => text));
        const links = numbers(count - 1, 1).map((n) => peer.resolving(n, new Slot('answer', asked[n]?.[0] as number)));
        peer.say([...(backwards ? links.reverse() : links), peer.resolving(count, 'end')]);
        all.push(await peer.outcome(asked[0]?.[0] as number));
      }
      return all;
    },
  },
  {
    name: 'a chain of promises that one frame makes, from its end and from its beginning, asked for before and in the same frame',
    dialects: ['hob.1'],
    expected: ['answered ok'],
    act: async (_peer, scene) => {
      const all: string[] = [];
      for (const together of [true, false]) {
        for (const backwards of [true, false]) {
          const peer = await scene.enter();
          const count = scene.size(500, together ? 2048 : 4096);
          const asked = numbers(count, 1).map((n) => peer.asking(0, 'echo', [new Slot('promise', n)]));
          const questions = asked.map(([, text]) => text);
          const links = numbers(count - 1, 1).map((n) =>
            peer.resolving(n, new Slot('answer', asked[n]?.[0] as number)),
          );
          const linking = [...(backwards ? links.reverse() : links), peer.resolving(count, 'end')];
          if (together) peer.say([...questions, ...linking]);
          else {
            peer.say(questions);
            peer.say(linking);
          }
          all.push(await peer.outcome(asked[0]?.[0] as number));
        }
      }
      return all;
    },
  },
  {
    name: 'as many bytes before a frame as may wait',
    dialects: ['hob.1'],
    expected: ['answered ok', 'answered limit'],
    act: async (peer, scene) => {
      const count = scene.size(2, 16);
      for (let i = 0; i < count; i += 1) peer.raw(new Uint8Array(1 << 20));
      const values = numbers(count).map((n) => ({ '@': 'bytes', at: n << 20, n: 1 << 20 }));
      return peer.outcome(echo(peer, JSON.stringify(values)));
    },
  },
];

const bigint = (peer: Attacker, digits: string): string =>
  peer.dialect === 'hob.1' ? `{"@":"bigint","v":"${digits}"}` : `{"@qclass":"bigint","digits":"${digits}"}`;
