/** Help for a writer of actors: a warning about a dropped become token, and the line of a call that failed. */
import { inspect } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { CapError, captp, type Definition, define, E, type Far, type Vats } from '../index.ts';
import { development, memoryPair } from '../testing.ts';
import type { VatsOptions } from './interface.ts';
import { openVats } from './vats.ts';

interface Counter {
  right(): void;
  wrong(): string;
  neither(): string;
  refuse(): never;
  ask(other: Far<Counter>): Promise<unknown>;
  both(inner: Counter): string;
}
const Counter: Definition<Counter, [n: number]> = define('Counter', (bcom, n) => ({
  right: () => bcom(Counter(n + 1)),
  wrong: () => {
    bcom(Counter(n + 1));
    return 'done';
  },
  neither: () => String(n),
  refuse: () => {
    throw new CapError('denied', 'not for you: ask for it');
  },
  ask: (other) => E(other).refuse() as never,
  both: (inner) => {
    bcom(Counter(n + 1));
    inner.right();
    return 'done';
  },
}));

async function opened(options: VatsOptions): Promise<Vats> {
  const vats = await openVats(options);
  onTestFinished(() => vats.close());
  return vats;
}
const errorOf = (promise: unknown): Promise<CapError> =>
  (promise as Promise<never>).then(
    () => expect.unreachable(),
    (error: CapError) => error,
  );
/** The first line of a stack that is a place. */
const firstPlace = (error: Error): string => /^ +at .*$/m.exec(error.stack ?? '')?.[0] ?? 'none';
const line = (): number => Number(/development\.test\.ts:(\d+)/.exec(new Error().stack?.split('\n')[2] ?? '')?.[1]);

test('a method that drops its become token throws in development, and the actor and its turn are as before', async () => {
  const vats = await opened({ development: true });
  const counter = await vats.vat('a').spawn(Counter(1));
  expect(await errorOf(E(counter).wrong())).toMatchObject({
    code: 'become-failure',
    message:
      'Counter.wrong called bcom and returned something else, so the actor did not change: write "return bcom(…)"',
  });
  const other = await vats.vat('a').spawn(Counter(1));
  // The call of another actor in between does not hide it.
  expect(await errorOf(E(counter).both(other as never))).toMatchObject({ code: 'become-failure' });
  expect([await E(counter).neither(), await E(other).neither()]).toEqual(['1', '1']);
  await E(counter).right();
  expect(await E(counter).neither()).toBe('2');
});

test('elsewhere there is a warning, once for a definition, and the call goes on', async () => {
  const warnings: string[] = [];
  const Own: Definition<Pick<Counter, 'wrong'>, []> = define('Own', (bcom) => ({
    wrong: () => {
      bcom(Own());
      return 'done';
    },
  }));
  const vats = await opened({ onWarning: (text) => void warnings.push(text) });
  for (const vat of ['a', 'b']) {
    const own = await vats.vat(vat).spawn(Own());
    for (let n = 0; n < 3; n += 1) expect(await E(own).wrong()).toBe('done');
  }
  expect(warnings).toEqual([expect.stringMatching(/^Own\.wrong called bcom and returned something else/)]);
});

test('a log of warnings that fails harms no turn', async () => {
  const Own: Definition<Pick<Counter, 'wrong'>, []> = define('Own', (bcom) => ({
    wrong: () => {
      bcom(Own());
      return 'done';
    },
  }));
  const faults: unknown[] = [];
  const vats = await opened({
    onFault: (error) => void faults.push(error),
    onWarning: () => {
      throw new Error('the log is full');
    },
  });
  expect(await E(await vats.vat('a').spawn(Own())).wrong()).toBe('done');
  expect(faults).toEqual([expect.objectContaining({ message: 'the log is full' })]);
});

test('in development the stack of an error begins at the line that sent, however the message was sent', async () => {
  const vats = await opened({ development: true });
  const counter = await vats.vat('a').spawn(Counter(1));
  const asked = await vats.vat('b').spawn(Counter(1));
  const cases: Record<string, () => readonly [number, unknown]> = {
    'a method': () => [line(), E(counter).refuse()],
    'a call of the reference': () => [line(), (counter as never as Counter).refuse()],
    pipelined: () => [line(), E(E(counter).neither() as never as Far<Counter>).refuse()],
    'through another vat': () => [line(), E(asked).ask(counter)],
    'a method that is not there': () => [line(), E(counter as never as Far<{ no(): void }>).no()],
    'an argument that cannot be passed': () => [line(), E(asked).ask((() => {}) as never)],
    'to data': () => [line(), E('text' as never as Far<Counter>).refuse()],
    'a function': () => [line(), E(counter as never as Far<() => void>)()],
  };
  for (const [name, send] of Object.entries(cases)) {
    const [at, sent] = send();
    const error = await errorOf(sent);
    expect(firstPlace(error), name).toContain(`development.test.ts:${at}:`);
    expect(error, name).toBeInstanceOf(CapError);
    expect(error.stack, name).toContain(`CapError: ${error.message}\n`);
  }
});

test('the error is the same otherwise: its code, message and class; and off, it is the very error that was thrown', async () => {
  const vats = await opened({});
  const counter = await vats.vat('a').spawn(Counter(1));
  const off = await errorOf(E(counter).refuse());
  expect(firstPlace(off)).not.toContain(`development.test.ts:${line()}:`);
  const end = development();
  onTestFinished(end);
  const on = await errorOf(E(counter).refuse());
  expect(on).toMatchObject({ code: off.code, message: off.message, name: off.name });
  expect(Object.keys(on)).toEqual(Object.keys(off));
  expect(inspect(on)).toContain('development.test.ts');
  end();
  expect((await errorOf(E(counter).refuse())).stack).not.toContain('-- thrown at --');
});

test('nothing of a stack crosses the wire, in either direction, nor reaches an actor', async () => {
  const vats = await opened({ development: true });
  const frames: string[] = [];
  const [a, b] = memoryPair();
  for (const end of [a, b]) {
    const send = end.send.bind(end);
    end.send = (frame, written) => {
      frames.push(typeof frame === 'string' ? frame : Buffer.from(frame).toString('latin1'));
      return send(frame, written);
    };
  }
  const host = await vats.vat('host').spawn(Counter(1));
  const seen: unknown[] = [];
  const Watch: Definition<{ watch(of: Far<Counter>): unknown; take(error: unknown): void }, []> = define(
    'Watch',
    () => ({
      watch: (of) =>
        E.when(
          E(of).refuse() as never,
          () => {},
          (error: Error) => void seen.push(error.stack),
        ),
      take: (error) => void seen.push((error as Error).stack),
    }),
  );
  const watch = await vats.vat('watch').spawn(Watch());
  const served = captp(a, { vat: vats.vat('wire'), bootstrap: host } as never);
  const remote = captp<Counter>(b);
  const error = await errorOf(E(remote.bootstrap).refuse());
  expect(firstPlace(error)).toContain('development.test.ts:');
  // Given back to the peer, as an argument and as the error of a promise.
  await errorOf(E(remote.bootstrap).ask(error as never));
  await errorOf(E(remote.bootstrap).ask(Promise.reject(error) as never));
  await E(watch).watch(host);
  await E(watch).take(error);
  expect(frames.length).toBeGreaterThan(3);
  expect(frames.filter((frame) => /development\.test|\bat /.test(frame))).toEqual([]);
  expect(seen).toHaveLength(2);
  for (const stack of seen) expect(stack).not.toContain('-- thrown at --');
  for (const connection of [remote, served]) connection.close();
});

test('console.log of a vat, of all vats and of a reference is one line, without internals or secrets', async () => {
  const vats = await opened({});
  const vat = vats.vat('alice');
  const counter = await vat.spawn(Counter(41_999));
  const sturdyref = await vats.sturdyref(counter);
  const [a, b] = memoryPair();
  const served = captp(a, { vat, bootstrap: counter } as never);
  const remote = captp<Counter>(b);
  const printed = [vat, vats, counter, remote.bootstrap].map((each) => inspect(each));
  expect(printed).toEqual([
    'Vat "alice"',
    'Vats ["alice"]',
    'Object [Alleged: Counter] {}',
    'Object [Alleged: procedure] {}',
  ]);
  for (const depth of [2, 20])
    for (const each of [vat, vats, counter, remote.bootstrap]) {
      const all = inspect(each, { depth, showHidden: true });
      for (const secret of [sturdyref, sturdyref.slice(-20), '41999']) expect(all).not.toContain(secret);
    }
  for (const connection of [remote, served]) connection.close();
});
