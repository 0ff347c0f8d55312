/**
 * A process of its own that enters sessions (or granters' places) and does what it is told, a line of JSON
 * each: an agent, its child, a granter, whatever a test needs at the far end of a real wire.
 *
 * `["enter", url, secret]` connects and returns the number of the connection; `["leave", n]`; `["call", n,
 * petname, method, ...args]` calls a cap of the session, `["send", n, method, ...args]` the bootstrap itself.
 * It answers `{"value"}` or `{"code", "message"}`.
 */
import '../src/programs/lockdown.ts';
import { createInterface } from 'node:readline';
import { type Connection, connect, E, type Far } from '@hob/vat';

type Methods = Readonly<Record<string, (...args: readonly unknown[]) => Promise<unknown>>>;
type Room = { cap(name: string): object };
const connections: (Connection & { readonly bootstrap: Far<Room> })[] = [];

async function act([what, ...rest]: readonly unknown[]): Promise<unknown> {
  if (what === 'enter') {
    const [url, secret] = rest as string[];
    return connections.push(await connect<Room>(url as string, { secret: secret as string })) - 1;
  }
  const connection = connections[rest[0] as number];
  const bootstrap = connection?.bootstrap as never as { cap(name: string): object };
  if (what === 'leave') {
    connection?.close();
    await connection?.closed;
    return null;
  }
  const [target, method, args] =
    what === 'call'
      ? [E(bootstrap).cap(rest[1] as string), rest[2], rest.slice(3)]
      : [bootstrap, rest[1], rest.slice(2)];
  return (E(target as object) as unknown as Methods)[method as string]?.(...args);
}

const say = (what: unknown): void => void process.stdout.write(`${JSON.stringify(what)}\n`);
for await (const line of createInterface({ input: process.stdin })) {
  const { id, what } = JSON.parse(line) as { id: number; what: readonly unknown[] };
  act(what).then(
    (value) => say({ id, value: value ?? null }),
    (error: { code?: string; message: string }) => say({ id, code: error.code ?? 'error', message: error.message }),
  );
}
process.exit(0);
