/** Fills tenants of a cluster, and starts machines that serve them, each as a process of its own. */
import './lockdown.ts';
import { type ChildProcess, fork } from 'node:child_process';
import { type NewSession, openHost } from '@hob/host';
import { postgresStore } from '@hob/store-postgres';
import { E } from '@hob/vat';

export interface Machine {
  readonly child: ChildProcess;
  /** The address of its door. */
  readonly url: string;
}

/** The object behind the cap `bell`, which every tenant has. */
export interface Bell {
  ring(): Promise<string>;
}

export interface Tenant {
  readonly name: string;
  /** The secret of its granter. */
  readonly granter: string;
  /** Its first sessions, as many as were asked for. */
  readonly active: readonly Pick<NewSession, 'id' | 'secret'>[];
}

/** Fills the store of a tenant, before the cluster serves it. Each of the `all` sessions has a grant. */
export async function fillTenant(
  url: string,
  name: string,
  stateDir: string,
  all: number,
  active: number,
): Promise<Tenant> {
  const store = await postgresStore({ url, schema: `hob_tenant_${name}`, shared: true });
  const host = await openHost({ stateDir, store });
  await host.offer('bell', { ring: async () => 'ding' });
  const { granter, secret } = await host.addGranter('ann');
  const first: Pick<NewSession, 'id' | 'secret'>[] = [];
  const until = Date.now() + 80 * 86_400_000;
  for (let done = 0; done < all; done += 500)
    await Promise.all(
      Array.from({ length: Math.min(500, all - done) }, async (_, n) => {
        const { id, secret } = await host.openSession({ name: `s${done + n}`, granters: ['ann'] });
        await E(granter).grant(id, 'bell', 'bell', { uses: 1_000_000, until });
        if (first.length < active) first.push({ id, secret });
      }),
    );
  await host.close();
  return { name, granter: secret, active: first };
}

/** Returns when its door is open. Adds the name of each tenant that it opens to `open`. */
export function startMachine(url: string, name: string, stateDir: string, open: Set<string>): Promise<Machine> {
  const args = [url, name, stateDir];
  const child = fork(new URL('cluster-machine.ts', import.meta.url), args, { execArgv: [...process.execArgv, '--expose-gc'] }); // biome-ignore format: one line
  return new Promise((ready) =>
    child.on('message', (said: { readonly url?: string; readonly open?: string }) => {
      if (said.open !== undefined) open.add(said.open);
      if (said.url !== undefined) ready({ child, url: said.url });
    }),
  );
}
