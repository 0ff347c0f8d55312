/**
 * One process of a cluster, for tests that kill and stop it. It uses one grant in each tenant that is open here, and
 * prints each call, each answer and each effect, with the time of a clock that all processes of the machine share. It
 * leaves the cluster when its input ends.
 */
import '@hob/host/lockdown';
import { writeSync } from 'node:fs';
import { type Host, openHost } from '@hob/host';
import { type Definition, define, driver, E, type Far, ledgerLine } from '@hob/vat';
import { openCluster } from '../src/index.ts';

const [url = '', name = '', stateDir = '', leaseMs = '', uses = ''] = process.argv.slice(2);
const say = (...words: readonly (string | number)[]): void => void writeSync(1, `${words.join(' ')}\n`);
const now = (): string => String(process.hrtime.bigint() / 1000n);
const pause = (ms: number): Promise<void> => new Promise((then) => setTimeout(then, ms));

interface Outside {
  done(tenant: string, left: number): void;
}
/** Each call writes a line, as with a real grant. So each answer waits for a commit. */
interface Grant {
  use(): number | 'exhausted';
  left(): number;
}
const Grant: Definition<Grant, [tenant: string, left: number, outside: Far<Outside>]> = define(
  'Grant',
  (bcom, tenant, left, outside) => ({
    use() {
      ledgerLine('call', { grant: tenant });
      if (left === 0) return 'exhausted';
      E.sendOnly(outside).done(tenant, left);
      return bcom(Grant(tenant, left - 1, outside), left) as never;
    },
    left() {
      ledgerLine('call', { grant: tenant });
      return left;
    },
  }),
);
const outside = driver<Outside>({ done: ([tenant, left]) => say('effect', tenant, left, now()) }, { name: 'outside' });

let calls = 0;
/** Uses the grant of a tenant until its host is closed. */
async function caller(host: Host, tenant: string): Promise<void> {
  let isOver = false;
  const halts = (error: { readonly code?: string }): void => {
    isOver ||= error.code === 'vat-halted';
  };
  const make = () => host.vats.vat('test').root<Grant>('grant', () => Grant(tenant, Number(uses), outside));
  const grant = await make().catch(halts);
  for (let n = 0; grant !== undefined && !isOver; n += 1) {
    const kind = n % 10 === 0 ? 'left' : 'use';
    const id = (calls += 1);
    say('call', id, tenant, kind, now());
    try {
      say('back', id, await E(grant)[kind](), now());
    } catch (error) {
      halts(error as { code?: string });
    }
    await pause(5);
  }
}

const cluster = await openCluster({
  ...{ url, name, stateDir, leaseMs: Number(leaseMs) },
  async open({ name: tenant, store, stateDir: folder }) {
    const host = await openHost({ stateDir: folder, store, definitions: [Grant], graceMs: 1000 });
    say('open', tenant, now());
    void caller(host, tenant);
    return host;
  },
}).catch((error: { code: string }) => {
  say('refused', error.code);
  process.exit(3);
});
say('joined', now());
process.stdin.resume().once('end', async () => {
  await cluster.close();
  process.exit(0);
});
