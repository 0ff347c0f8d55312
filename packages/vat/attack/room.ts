/** The target of the attacks: an object with every kind of answer, and with things that nobody may learn. */
import { type Definition, define, driver, E, type Far, promise, spawn, table, type Vats } from '../src/index.ts';

/** Texts that no peer may ever be told. */
export const secrets: readonly string[] = ['s3cr3t', 'hunter2', '/srv/host/secret.txt', 'somebody-elses-name'];

interface Listener {
  hear(value: unknown): unknown;
}
interface Tools {
  fresh(letters: number): string;
  bytes(count: number): Uint8Array;
  fails(): unknown;
}
interface Inner {
  admin(): string;
  m(): number;
}
export interface Room {
  echo(value: unknown): unknown;
  list(value: unknown): unknown;
  self(): unknown;
  add(line: string): number;
  call(listener: object, value: unknown): unknown;
  notice(listener: object, value: unknown): number;
  held(): unknown;
  throws(): unknown;
  fails(): unknown;
  stuck(): unknown;
  fresh(letters: number): unknown;
  bytes(count: number): unknown;
  make(): unknown;
}

const Inner: Definition<Inner, []> = define('Inner', () => ({ admin: () => 's3cr3t', m: () => 1 }));

const Room: Definition<Room, [lines: readonly string[], tools: Far<Tools>, inner: Far<Inner>]> = define(
  'Room',
  (bcom, lines, tools, inner) => ({
    echo: (value) => value,
    list: (value) => [value],
    self: () => bcom.self,
    add: (line) => bcom(Room([...lines, line], tools, inner), lines.length + 1),
    call: (listener, value) => E(listener as Listener).hear(value),
    notice: (listener, value) => {
      E.sendOnly(listener as Listener).hear(value);
      return 1;
    },
    // A table goes by reference here, and over no wire: what stands beside it must not be reached by way of
    // the answer.
    held: () => [inner, table()],
    throws: () => {
      throw new Error('db password is hunter2, see /srv/host/secret.txt, says somebody-elses-name');
    },
    fails: () => E(tools).fails(),
    stuck: () => promise().promise,
    fresh: (letters) => E(tools).fresh(letters),
    bytes: (count) => E(tools).bytes(count),
    make: () => spawn(Inner()),
  }),
);

export async function openRoom(vats: Vats): Promise<Far<Room>> {
  let made = 0;
  const tools = driver<Tools>({
    fresh: ([letters]) => {
      made += 1;
      return Buffer.alloc(letters, 'x').toString('latin1') + made;
    },
    bytes: ([count]) => new Uint8Array(count),
    fails: async () => {
      throw Object.assign(new Error("ENOENT: no such file '/srv/host/secret.txt'"), { code: 'ENOENT' });
    },
  });
  const vat = vats.vat('rooms');
  const inner = await vat.spawn(Inner());
  return (await vat.spawn(Room([], tools as never, inner as never))) as Far<Room>;
}
