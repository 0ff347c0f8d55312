/**
 * A host in a process of its own, for the tests of `packages/bridge-python`. `host-for-python.ts STATE ROOT`:
 * offers "dangerous-op", which notes what it is told, "bell", of which it warns, "directory", which is ROOT, "lazy",
 * whose calls wait until they are let go, and "watcher", which calls what it is given; prints `{"url", "granter"}`,
 * the granter's secret, when it serves, and leaves a
 * note for the commands of a person; then does what it is told, a line of JSON `[act, …args]` each, and
 * answers `{"value"}` or `{"code"}`. Its clock is turned by hand.
 */
import '../src/programs/lockdown.ts';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { openFsCap } from '@hob/caps-fs';
import { makeShellCap, type ShellCap } from '@hob/caps-shell';
import { CapError, E, type Far } from '@hob/vat';
import { testClock } from '@hob/vat/testing';
import { certificate } from '../../../test/certificate.ts';
import { openHost } from '../src/index.ts';

const [state = '', root = ''] = process.argv.slice(2);
const clock = testClock({ wall: Date.now() });
const host = await openHost({
  stateDir: state,
  clock,
  // Warns of each call of `again`, and of nothing else.
  firewall: {
    decide: () => ({ waits: false, trace: {}, reasons: [] }),
    loops: {
      before: () => {},
      after: ({ method }, { ok }) =>
        method === 'again' ? { kept: 0, lasting: true, warning: `again: ${ok}` } : undefined,
    },
  },
  // pytest shows it with the test that failed.
  observe: ({ id, error }) =>
    void process.stderr.write(`hob: error ${id}: ${error instanceof Error ? error.stack : String(error)}\n`),
});
const ran: unknown[] = [];
await host.offer('dangerous-op', {
  invoke: async (args: unknown) => {
    ran.push(args ?? null);
    return 'ok';
  },
});
await host.offer('bell', {
  again: async (tone: string) => {
    if (tone !== 'low') throw new CapError('NOT_FOUND', 'no such tone');
    return 'ding';
  },
});
let waiting = Promise.withResolvers<string>();
await host.offer('lazy', { wait: () => waiting.promise });
await host.offer('watcher', {
  watch: async (counter: Far<{ next(): number }>, _said: unknown, reader: Far<{ read(): string }>) => {
    await E(counter).next();
    return [await E(counter).next(), await E(reader).read()];
  },
});
const directory = await openFsCap(root);
await host.offer('directory', directory);
let shell: ShellCap | undefined;
const { secret } = await host.addGranter('owner');
const { url } = await host.serve();
const say = (what: unknown): void => void process.stdout.write(`${JSON.stringify(what)}\n`);

const acts: Readonly<Record<string, (...args: never[]) => unknown>> = {
  open: async (name: string) => {
    const { id, secret: entered } = await host.openSession({ name, granters: ['owner'] });
    return { id, secret: entered };
  },
  end: async (id: string) => (await host.session(id)).end(),
  publish: async (id: string, petname: string) => (await host.session(id)).publish(petname),
  sleep: (seconds: number) => clock.advance(seconds * 1000),
  ran: () => ran.splice(0),
  /** Beside the state. */
  socket: async () => (await host.serve({ path: join(dirname(state), 'socket') })).url,
  tls: async () => {
    const tls = certificate();
    const { url } = await host.serve({ host: '127.0.0.1', tls });
    return { url, ca: tls.cert, other: certificate().cert };
  },
  letGo: () => {
    waiting.resolve('over');
    waiting = Promise.withResolvers();
  },
  connections: () => host.connections().map((each) => ({ session: each.session, ...each.stats() })),
  verify: () => host.verify(),
  // Made only for those who want it: it starts processes.
  shell: async () => {
    shell ??= await makeShellCap({ mounts: { '/ws': directory } });
    await host.offer('shell', shell);
  },
  ledger: async () => {
    const lines: unknown[] = [];
    for await (const line of host.ledger()) lines.push(JSON.parse(line));
    return lines;
  },
};

say({ url, granter: secret });
for await (const line of createInterface({ input: process.stdin })) {
  const [name, ...args] = JSON.parse(line) as [string, ...never[]];
  try {
    say({ value: (await acts[name]?.(...args)) ?? null });
  } catch (error) {
    say({ code: (error as { code?: string }).code ?? String(error) });
  }
}
await shell?.close();
await host.close();
process.exit(0);
