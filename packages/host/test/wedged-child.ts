/**
 * A host in a process of its own whose vat can be wedged: it offers an actor of its store that spins for ever
 * when it is told to. `wedged-child.ts STATE`: serves, leaves its note and ends with its process as the
 * daemon does, prints `{"url"}` and does what it is told, as `host-child.ts`.
 */
import '../src/programs/lockdown.ts';
import { writeSync } from 'node:fs';
import { type Definition, define, driver, E } from '@hob/vat';
import { endWithProcess } from '../src/drivers/life.ts';
import { openHost } from '../src/index.ts';

interface Bell {
  wait(): Promise<string>;
}
interface Wedge {
  count(): number;
  spin(): void;
  /** Spins when the bell answers, or when the process that it waited in is gone. */
  arm(): void;
}
const Wedge: Definition<Wedge, [count: number, bell: Bell]> = define('Wedge', (bcom, count, bell) => ({
  count: () => bcom(Wedge(count + 1, bell), count + 1),
  spin: () => {
    // At once: nothing is said any more once it spins.
    writeSync(1, 'spins\n');
    for (;;);
  },
  arm: () => E.to(bcom.self, 'spin').on(E(bell).wait()),
}));

const [state = ''] = process.argv.slice(2);
const say = (what: unknown): void => void process.stdout.write(`${JSON.stringify(what)}\n`);
const host = await openHost({ stateDir: state, definitions: [Wedge] });
endWithProcess(host, state);
const bell = driver<Bell>({ wait: () => new Promise(() => {}) }, { name: 'bell' });
const wedge = await host.vats.vat('mine').root('wedge', () => Wedge(0, bell as never));
await host.offer('wedge', wedge);
// Only who opened it the first time made them.
const known = (await host.sessions())[0];
let secret: string | undefined;
if (known === undefined) {
  const { granter } = await host.addGranter('owner');
  const session = await host.openSession({ name: 'work', granters: ['owner'] });
  await E(granter).grant(session.id, 'wedge', 'wedge', { uses: 100, for: 3_600_000 });
  secret = session.secret;
}
const { url } = await host.serve();
const grants = await E(await host.granter('owner')).list();
say({ url, secret, states: grants.map((grant) => [grant.petname, grant.state, grant.usesLeft]) });
