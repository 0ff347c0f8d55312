/** Errors whose text stays here, and the id that joins what the peer heard to the log. */
import { describe, expect, onTestFinished, test } from 'vitest';
import { CapError, driver, E } from '../index.ts';
import type { WireFault } from '../wire.ts';
import { type Connected, captp, type DialectName } from './captp.ts';
import type { Duplex } from './session/duplex.ts';
import { memoryPair } from './transport/memory-pair.ts';

interface Service {
  fail(with_: 'secret' | 'ours'): Promise<void>;
  tell(): Promise<unknown>;
}
const secret = new Error('cannot open /srv/first/secret');
const service = driver<Service>({
  fail: ([how]) => Promise.reject(how === 'ours' ? new CapError('denied', 'not for you: ask for it') : secret),
  tell: () => Promise.resolve({ why: secret }),
});

function served(dialect: DialectName, observe?: (fault: WireFault) => void): Connected<Service> {
  const [a, b] = memoryPair();
  const host = captp(a, { dialect, bootstrap: service, ...(observe === undefined ? {} : { observe }) });
  const client = captp<Service>(b, { dialect });
  onTestFinished(async () => {
    client.close();
    await host.closed;
  });
  return client;
}
describe.each<DialectName>(['hob.1', 'captp'])('%s', (dialect) => {
  test('the caller learns only the id of an error; its text is noted here under that id', async () => {
    const faults: WireFault[] = [];
    const { bootstrap } = served(dialect, (fault) => faults.push(fault));
    const told: CapError = await E(bootstrap)
      .fail('secret')
      .then(
        () => expect.unreachable(),
        (error: CapError) => error,
      );
    const { why } = (await E(bootstrap).tell()) as { why: CapError };
    expect(faults.map(({ error }) => (error as Error).message)).toEqual([secret.message, secret.message]);
    for (const [i, error] of [told, why].entries()) {
      expect(error.code).toBe('error');
      expect(error.message).toContain(`(error ${faults[i]?.id})`);
      expect(`${error.message} ${error.stack}`).not.toContain('/srv');
    }
    expect(faults[0]?.id).not.toBe(faults[1]?.id);
  });

  test('an error of ours says itself what it is, and is not noted', async () => {
    const faults: WireFault[] = [];
    const { bootstrap } = served(dialect, (fault) => faults.push(fault));
    await expect(E(bootstrap).fail('ours')).rejects.toMatchObject({
      code: 'denied',
      message: 'not for you: ask for it',
    });
    expect(faults).toEqual([]);
  });

  test('where nobody notes it there is no id', async () => {
    await expect(E(served(dialect).bootstrap).fail('secret')).rejects.toThrow(/gives no reason$/);
  });
});

test('a fault of this end that closes the connection is noted, and the peer is told the id', () => {
  const faults: WireFault[] = [];
  let hear: (frame: never) => void = () => {};
  let closed: { code: number; reason: string } | undefined;
  const duplex: Duplex = {
    send: () => {},
    buffered: 0,
    onFrame: (then) => void (hear = then as typeof hear),
    onClose: () => {},
    close: (code, reason) => void (closed = { code, reason }),
  };
  captp(duplex, { observe: (fault) => faults.push(fault) });
  // A transport that hands over what is no frame.
  hear(undefined as never);
  expect(closed).toEqual({ code: 1011, reason: `a fault of this end (error ${faults[0]?.id})` });
  expect(faults[0]?.error).toBeInstanceOf(TypeError);
});
