/**
 * A host in a process of its own, to be killed. `host-child.ts STATE [graceMs] [patient]`: offers "bell", prints
 * `{"url"}` when it serves, then does what it is told, a line of JSON each, and answers `{"id", "value"}` or
 * `{"id", "code"}` once that is durable. With `patient`, what could be written later is, until a commit takes it along.
 */
import '../src/programs/lockdown.ts';
import { createInterface } from 'node:readline';
import { E, systemClock } from '@hob/vat';
import { orderStop } from '../src/drivers/state-dir.ts';
import { revokeEverything } from '../src/granters/stop.ts';
import { openHost, type Session } from '../src/index.ts';
import { endUnlessLasting } from '../src/sessions/grace.ts';
import { rowsOf, tablesIn } from './rows.ts';

const [state = '', grace, pace] = process.argv.slice(2);
const clock = systemClock();
const patient = { ...clock, after: (ms: number, then: () => void) => clock.after(ms < 10 ? 60_000 : ms, then) };
const host = await openHost({
  stateDir: state,
  ...(grace === undefined ? {} : { graceMs: Number(grace) }),
  ...(pace === 'patient' ? { clock: patient } : {}),
});
const { url } = await host.serve();
const say = (what: unknown): void => void process.stdout.write(`${JSON.stringify(what)}\n`);

const acts: Readonly<Record<string, (...args: never[]) => Promise<unknown>>> = {
  offer: () => host.offer('bell', { ring: async () => 'ding' }),
  addGranter: async (name: string) => (await host.addGranter(name)).secret,
  openSession: async (options: Parameters<typeof host.openSession>[0]) => {
    const { id, secret } = await host.openSession(options);
    return { id, secret };
  },
  sessions: async () =>
    (await host.sessions()).map(({ id, name, parent }) => ({ id, name, ...(parent === undefined ? {} : { parent }) })),
  end: async (id: string) => (await host.session(id)).end(),
  publish: async (id: string, petname: string) => (await host.session(id)).publish(petname),
  rotate: async (id: string) => (await ((await host.session(id)) as Session).rotate()).secret,
  granter: async (name: string, method: string, ...args: unknown[]) =>
    (E(await host.granter(name)) as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>)[method]?.(
      ...args,
    ),
  rows: () => rowsOf(host),
  endAndDie: async (id: string) => {
    const told = host.ledger({ follow: true });
    (await host.session(id)).end().catch(() => {});
    for await (const line of told) {
      const { k, what, session } = JSON.parse(line) as Readonly<Record<string, unknown>>;
      if (k === 'session' && what === 'end' && session !== id) process.kill(process.pid, 'SIGKILL');
    }
  },
  // Its first turn is on the disk, and most of the others are not.
  lapseAndDie: async (id: string) => {
    await tablesIn(host, (tables) => void endUnlessLasting(tables, id));
    process.kill(process.pid, 'SIGKILL');
  },
  // Between two turns of a stop: the order is given, and 64 grants are revoked on the disk.
  stopAndDie: async () => {
    orderStop(state, 'test');
    let turns = 0;
    await revokeEverything((body) => {
      if (turns === 2) process.kill(process.pid, 'SIGKILL');
      turns += 1;
      return tablesIn(host, body) as never;
    }, 'test');
  },
  verify: () => host.verify(),
  lines: async () => {
    const all: string[] = [];
    for await (const line of host.ledger()) all.push(line);
    return all;
  },
};

say({ url });
for await (const line of createInterface({ input: process.stdin })) {
  const { id, what } = JSON.parse(line) as { id: number; what: readonly [string, ...unknown[]] };
  const [name, ...args] = what;
  (acts[name] as (...args: readonly unknown[]) => Promise<unknown>)(...args).then(
    (value) => say({ id, value: value ?? null }),
    (error: { code?: string; message: string }) => say({ id, code: error.code ?? error.message }),
  );
}
await host.close();
process.exit(0);
