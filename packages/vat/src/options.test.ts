/** An option that nobody reads is refused by every public function, and the one that was meant is named. */
import fc from 'fast-check';
import { afterEach, expect, test } from 'vitest';
import { WebSocketServer } from 'ws';
import { expectRefused, type Misspelt } from '../../../test/misspelt.ts';
import { passOn, takeOptions, takeRecord } from './forwarder.ts';
import { define, defineProcedure, driver, driverOf, openStore, openVats, promise, type Vats } from './index.ts';
import { exportLedger, restoreStore, retainLedger, verifyLedger } from './store.ts';
import { memoryPair, testClock } from './testing.ts';
import { captp, connect, fromWebSocket } from './wire.ts';

let vats: Vats | undefined;
afterEach(async () => {
  await vats?.close();
  vats = undefined;
});

/** The calls, each with an option whose last letter is missing. */
const misspelt = (opened: Vats): Misspelt => {
  const [left] = memoryPair();
  return {
    openStore: [() => openStore({ pat: '/none' } as never), 'pat', 'path'],
    openVats: [() => openVats({ definition: [] } as never), 'definition', 'definitions'],
    'vats.vat': [() => opened.vat('a', { mete: 1 } as never), 'mete', 'meter'],
    'vats.meter': [() => opened.meter('a', { actor: 1 }), 'actor', 'actors'],
    define: [() => define('A', () => ({}), { versio: 1 } as never), 'versio', 'version'],
    defineProcedure: [() => defineProcedure('A', () => () => {}, { formerl: [] } as never), 'formerl', 'formerly'],
    driver: [() => driver({}, { read: [] } as never), 'read', 'reads'],
    driverOf: [() => driverOf({ m: () => {} }, { nam: 'a' } as never), 'nam', 'name'],
    captp: [() => captp(left, { dialec: 'captp' } as never), 'dialec', 'dialect'],
    'captp limits': [() => captp(left, { limits: { token: 1 } } as never), 'token', 'tokens'],
    connect: [() => connect('ws://127.0.0.1:1', { secret: 's', patience: 0 } as never), 'patience', 'patienceMs'],
    memoryPair: [() => memoryPair({ delay: 1 } as never), 'delay', 'delayMs'],
    fromWebSocket: [() => fromWebSocket({}, { ping: 1 } as never), 'ping', 'pingMs'],
    testClock: [() => testClock({ wal: 1 } as never), 'wal', 'wall'],
    exportLedger: [() => exportLedger({} as never, { folow: true } as never), 'folow', 'follow'],
    verifyLedger: [() => verifyLedger({ file: '/none' }, { anchr: '' } as never), 'anchr', 'anchor'],
    'verifyLedger of a file': [() => verifyLedger({ file: '/none', fil: '' } as never), 'fil', 'file'],
    retainLedger: [() => retainLedger({} as never, { befor: 1, by: 'a' } as never), 'befor', 'before'],
    passOn: [
      () =>
        opened.vat('a').turn(() => {
          const handlers = { ok: () => {}, broken: () => {}, caus: 'c1' } as never;
          return void passOn(promise().promise as Promise<unknown>, handlers);
        }),
      'caus',
      'cause',
    ],
    restoreStore: [() => restoreStore('/none', { path: '/none', pat: '' } as never), 'pat', 'path'],
  };
};

test('an option of another name is refused by every function that takes options, and the one that was meant is named', async () => {
  vats = await openVats();
  await expectRefused(misspelt(vats));
});

test('a store that is given no place is refused, and never a store that ends with the process', async () => {
  for (const where of [{}, { memory: false }, undefined, 'folder'])
    await expect(openStore(where as never)).rejects.toMatchObject({ code: 'invalid' });
});

test('nothing is dialled and no connection is opened with an option that nobody reads', async () => {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await new Promise((resolve) => server.once('listening', resolve));
  let dialled = 0;
  server.on('connection', () => {
    dialled += 1;
  });
  const { port } = server.address() as { port: number };
  await expect(connect(`ws://127.0.0.1:${port}`, { secret: 's', limit: {} } as never)).rejects.toMatchObject({
    code: 'invalid',
  });
  expect(dialled).toBe(0);
  await new Promise((resolve) => server.close(resolve));
});

test('each option is read once, so a getter cannot return something else after the check', () => {
  let reads = 0;
  const tricky = {
    get by() {
      reads += 1;
      return reads;
    },
  };
  const taken = takeOptions<{ by?: number }>(tricky, 'it', { by: true });
  expect([taken.by, taken.by, reads]).toEqual([1, 1, 1]);
});

test('a key is refused exactly if it is not known, whatever it is, and the message stays short', () => {
  const known = ['path', 'limits', 'name'];
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.constantFrom(...known, '__proto__', 'toString', 'x'.repeat(1000))), (key) => {
      const given = Object.defineProperty({}, key, { value: 1, enumerable: true });
      if (known.includes(key)) expect(takeRecord(given, 'it', known, 'option')).toEqual(given);
      else
        try {
          takeRecord(given, 'it', known, 'option');
          expect.unreachable();
        } catch (error) {
          expect(error).toMatchObject({ code: 'invalid' });
          // A control character takes six.
          expect((error as Error).message.length).toBeLessThan(600);
        }
    }),
  );
});

test('a name that is like no other gets the list and no guess', () => {
  const message = (key: string): string => {
    try {
      takeRecord({ [key]: 1 }, 'openVats', ['store', 'clock'], 'option');
      return '';
    } catch (error) {
      return (error as Error).message;
    }
  };
  expect(message('somewhere')).toBe('openVats has no option "somewhere": there are store, clock');
  expect(message('Clock')).toBe('openVats has no option "Clock": did you mean "clock"? there are store, clock');
  expect(message('stroe')).toContain('did you mean "store"?');
});
