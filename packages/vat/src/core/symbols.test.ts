/** Symbols that peers send: they are data, and leave nothing behind in the process. */
import { describe, expect, test } from 'vitest';
import { volume } from '../../../../test/depth.ts';
import { HobPeer } from '../../test/hob-peer.ts';
import { closedAfterEachTest } from '../../test/opened.ts';
import { ask, endoPeer, RawPeer, wire } from '../../test/wire.ts';
import { type Connection, captp, type DialectName } from '../captp/captp.ts';
import { memoryPair } from '../captp/transport/memory-pair.ts';
import { driver, E } from '../index.ts';
import { pass } from '../turn/values.ts';
import { Account } from './meter.ts';
import { foreignSymbols, nameOfSymbol, symbolKey, symbolNamed, symbolOfKey } from './symbols.ts';

const open = closedAfterEachTest<Connection>();

interface Echo {
  echo(value: unknown): unknown;
  keep(value: unknown): void;
}
const held: unknown[] = [];
const echo = driver<Echo>({ echo: ([value]) => value, keep: ([value]) => void held.push(value) });

/** Sends symbols of these names, and says what the answer was. */
type Send = (names: readonly string[]) => Promise<string>;
function enter(dialect: DialectName): { readonly send: Send; readonly leave: () => Promise<void> } {
  const [a, b] = memoryPair();
  const connection = captp(a, { dialect, bootstrap: echo });
  let id = 1;
  let send: Send;
  if (dialect === 'hob.1') {
    const peer = new HobPeer(b);
    send = (names) => {
      id += 1;
      peer.say(['deliver', 0, 'echo', [names.map((v) => ({ '@': 'symbol', v }))], id]);
      return peer.answer(id);
    };
  } else {
    const peer = new RawPeer(b);
    peer.start();
    send = (names) => {
      id += 1;
      peer.call(`q-${id}`, 'o-1', 'echo', [names.map((name) => ({ '@qclass': 'symbol', name }))]);
      return peer.answer(`q-${id}`);
    };
  }
  const leave = async (): Promise<void> => {
    connection.close();
    await connection.closed;
  };
  return { send, leave };
}

describe.each<DialectName>(['hob.1', 'captp'])('%s', (dialect) => {
  test('one session that brings names without end, 64 to a connection, takes none away from another', async () => {
    for (let n = 0; n < volume(7_000, 70_000); n += 64) {
      const { send, leave } = enter(dialect);
      expect(await send(Array.from({ length: 64 }, (_, i) => `${dialect} ${n + i}`))).toMatch(/^\[/);
      await leave();
    }
    const other = enter(dialect);
    expect(await other.send([`${dialect} of the other`])).toContain(`${dialect} of the other`);
    await other.leave();
    const gc = (globalThis as unknown as { gc(): void }).gc;
    // A symbol that nobody holds is removed once the garbage collector has run and reported it.
    await expect
      .poll(
        () => {
          gc();
          return foreignSymbols();
        },
        { timeout: 60_000 },
      )
      .toBeLessThan(1000);
  }, 120_000);

  test('one connection may bring many names, and gets each back', async () => {
    const { send, leave } = enter(dialect);
    const names = Array.from({ length: 5000 }, (_, i) => `many ${i}`);
    const said = JSON.parse(await send(names)) as { v?: string; name?: string }[];
    expect(said.map(({ v, name }) => v ?? name)).toEqual(names);
    await leave();
  });
});

test('a name that the program has passed itself means its registered symbol', () => {
  const ours = Symbol.for('passed by the program');
  pass(ours, new Account('x'));
  expect(symbolNamed('passed by the program')).toBe(ours);
});

test('a name that only a peer uses is not registered: it means one symbol, for as long as that is held', async () => {
  const [a, b] = memoryPair();
  open.push(captp(a, { bootstrap: echo }));
  const peer = new HobPeer(b);
  for (const id of [1, 2]) {
    peer.say(['deliver', 0, 'keep', [{ '@': 'symbol', v: 'only theirs' }], id]);
    await peer.answer(id);
  }
  const [first, second] = held.splice(0) as [symbol, symbol];
  expect(first).toBe(second);
  expect([Symbol.keyFor(first), nameOfSymbol(first)]).toEqual([undefined, 'only theirs']);
  expect(pass([first], new Account('x'))).toEqual([first]);
});

test('symbols of the language cross to an Endo peer and back, as its own marshal writes them', async () => {
  const [ours, theirs] = wire();
  open.push(captp(ours, { dialect: 'captp', bootstrap: echo }));
  const { bootstrap } = endoPeer(theirs);
  for (const symbol of [Symbol.asyncIterator, Symbol.iterator, Symbol.for('x'), Symbol.for('@@iterator')])
    expect(await ask(bootstrap, 'echo', symbol)).toBe(symbol);
  const [raw, by] = memoryPair();
  open.push(captp(raw, { dialect: 'captp', bootstrap: echo }));
  const peer = new RawPeer(by);
  peer.start();
  // In smallcaps, and in the oldest way of writing one.
  const bodies = ['#["echo",["%@@asyncIterator"]]', '["echo",[{"@qclass":"@@asyncIterator"}]]'];
  for (const [i, body] of bodies.entries()) {
    peer.send({
      type: 'CTP_CALL',
      epoch: 0,
      questionID: `q-${i + 2}`,
      target: 'o-1',
      method: { body, slots: [] },
    });
    expect(JSON.parse(await peer.answer(`q-${i + 2}`))).toEqual({ '@qclass': 'symbol', name: '@@asyncIterator' });
  }
  peer.call('q-9', 'o-1', 'echo', [{ '@qclass': 'symbol', name: '@@none' }]);
  expect(await peer.answer('q-9')).toMatch(/^invalid: /);
});

test('each symbol that can be passed has one text, and each text one symbol', () => {
  for (const symbol of [Symbol.iterator, Symbol.for('@@iterator'), Symbol.for('iterator'), symbolNamed('theirs')])
    expect(symbolOfKey(symbolKey(symbol) as string)).toBe(symbol);
  expect([symbolKey(Symbol('own')), symbolOfKey('@@none')]).toEqual([undefined, undefined]);
});

test.each<DialectName>(['hob.1', 'captp'])(
  '%s: a name of more than 256 letters is refused to its sender, and the connection stays',
  async (dialect) => {
    const [a, b] = memoryPair();
    open.push(captp(a, { dialect, bootstrap: echo }));
    const far = captp<Echo>(b, { dialect });
    open.push(far);
    const long = Symbol.for('x'.repeat(257));
    await expect(E(far.bootstrap).echo(long)).rejects.toMatchObject({ code: 'invalid' });
    const longest = Symbol.for('x'.repeat(256));
    expect(await E(far.bootstrap).echo(longest)).toBe(longest);
  },
);

test('hob.1: a symbol of the language is refused to its sender, and the connection stays', async () => {
  const [a, b] = memoryPair();
  open.push(captp(a, { bootstrap: echo }));
  const far = captp<Echo>(b);
  open.push(far);
  await expect(E(far.bootstrap).echo(Symbol.iterator)).rejects.toMatchObject({ code: 'invalid' });
  expect(await E(far.bootstrap).echo(1)).toBe(1);
});
