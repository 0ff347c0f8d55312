/** A promise from inside: chains, order, memory. */
import { expect, test } from 'vitest';
import { noChain } from './causes.ts';
import { CapError } from './errors.ts';
import { Message, Target } from './message.ts';
import { Account } from './meter.ts';
import { VatPromise } from './promise.ts';
import { referenceClass } from './reference.ts';

const account = (limits?: Record<string, number>): Account => new Account('test', limits);

class Sink extends Target {
  readonly label = 'sink';
  readonly account: Account = account();
  readonly got: string[] = [];
  post(message: Message): void {
    message.taken();
    this.got.push(message.method);
  }
  near(): never {
    throw new Error('far');
  }
}
const Sinks = referenceClass([], 'Sink');

function send(to: VatPromise, method: string, payer: Account): Promise<unknown> {
  const answer = new VatPromise(payer);
  payer.charge('messages', 1);
  to.post(new Message({ to, method, args: [], answer, account: payer, chain: noChain }));
  return answer.promise();
}

test('messages reach what a chain of promises becomes in the order they were sent, whichever was asked', () => {
  const payer = account();
  const [p, q, r] = [new VatPromise(payer), new VatPromise(payer), new VatPromise(payer)];
  const sink = new Sink();
  void send(p, 'p1', payer);
  p.fulfil(q.promise());
  void send(p, 'p2', payer);
  q.fulfil(r.promise());
  void send(p, 'p3', payer);
  void send(q, 'q1', payer);
  r.fulfil(new Sinks(sink));
  void send(p, 'p4', payer);
  expect(sink.got).toEqual(['p1', 'p2', 'p3', 'q1', 'p4']);
  expect(payer.used()).toMatchObject({ messages: 0 });
});

test('a chain of 100,000 promises is followed without filling the stack, both ways of linking', async () => {
  for (const backwards of [false, true]) {
    const payer = account();
    const vows = Array.from({ length: 100_000 }, () => new VatPromise(payer));
    const links = vows.slice(1).map((next, i) => [vows[i] as VatPromise, next] as const);
    for (const [from, to] of backwards ? links.reverse() : links) from.fulfil(to.promise());
    (vows.at(-1) as VatPromise).fulfil('end');
    expect((vows[0] as VatPromise).value).toBe('end');
    expect(payer.promises).toBe(0);
  }
});

test('100,000 messages, each to the answer of the one before, break or arrive without filling the stack', async () => {
  for (const breaks of [true, false]) {
    const payer = account();
    const first = new VatPromise(payer);
    const sink = new Sink();
    let last = first;
    for (let i = 0; i < 100_000; i += 1) {
      const answer = new VatPromise(payer);
      payer.charge('messages', 1);
      last.post(new Message({ to: last, method: 'm', args: [], answer, account: payer, chain: noChain }));
      last = answer;
    }
    if (breaks) first.break(new CapError('denied', 'no'));
    else first.fulfil(5);
    await expect(last.promise()).rejects.toMatchObject({ code: breaks ? 'denied' : 'not-callable' });
    expect(payer.used()).toMatchObject({ messages: 0, promises: 0 });
    expect(sink.got).toEqual([]);
  }
});

test('messages that wait at a promise break with it, and their budget is given back', async () => {
  const payer = account({ promises: 10, messages: 10 });
  const p = new VatPromise(payer);
  const waiting = [send(p, 'a', payer), send(p, 'b', payer)];
  expect(payer.used()).toMatchObject({ promises: 3, messages: 2 });
  p.break(new CapError('denied', 'no'));
  for (const one of waiting) await expect(one).rejects.toMatchObject({ code: 'denied' });
  expect(payer.used()).toMatchObject({ promises: 0, messages: 0 });
});

test('a promise settles once, also when it was linked to an unsettled one', async () => {
  const payer = account();
  const [p, q] = [new VatPromise(payer), new VatPromise(payer)];
  p.fulfil(q.promise());
  p.fulfil('late');
  p.break(new Error('late'));
  expect(p.settled).toBeUndefined();
  q.fulfil('first');
  expect([p.settled, p.value, await p.promise()]).toEqual(['fulfilled', 'first', 'first']);
  expect(payer.promises).toBe(0);
});

test('a promise over the budget is refused before it is made', () => {
  const payer = account({ promises: 1 });
  const held = new VatPromise(payer);
  expect(() => new VatPromise(payer)).toThrow(CapError);
  held.fulfil(1);
  expect(() => new VatPromise(payer)).not.toThrow();
});
