/** Vats in memory and connections that the tests of a file open before each test and close after it. */
import { afterEach, beforeEach } from 'vitest';
import { openVats, type TurnRecord, type Vat, type Vats } from '../src/index.ts';

export interface Opened {
  readonly vats: Vats;
  readonly a: Vat;
  readonly b: Vat;
  /** The records of all turns so far. */
  readonly records: TurnRecord[];
}

/** `use` receives the vats of the test that begins. */
export function openForEachTest(use: (opened: Opened) => unknown): void {
  let vats: Vats;
  beforeEach(async () => {
    const records: TurnRecord[] = [];
    vats = await openVats({ observe: (turn) => void records.push(turn) });
    await use({
      vats,
      // Made only when asked for: a test may give a vat of this name a meter.
      get a() {
        return vats.vat('a');
      },
      get b() {
        return vats.vat('b');
      },
      records,
    });
  });
  afterEach(() => vats.close());
}

interface Closes {
  readonly closed: Promise<unknown>;
  close(): void;
}

/**
 * A list of connections, which are closed after each test. Call it after `openForEachTest`: what is
 * registered last is closed first.
 */
export function closedAfterEachTest<C extends Closes>(): C[] {
  const open: C[] = [];
  afterEach(async () => {
    for (const connection of open.splice(0)) {
      connection.close();
      await connection.closed;
    }
  });
  return open;
}
