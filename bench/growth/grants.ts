/** Measures a durable host with many grants, in ten sessions. */
import type { SessionFace } from '@hob/host';
import { connect, E } from '@hob/vat';
import type { Tell } from './fields.ts';
import { type Bell, lasting, listGrants, openHouse } from './hosts.ts';
import { folderOf, many, medianMs, usEach } from './times.ts';

const atOnce = 50;
const rounds = 15;

export async function measureGrants(sizes: readonly number[], tell: Tell): Promise<void> {
  const house = await openHouse(folderOf('grants'));
  const { host, granter, url } = house;
  // Each grant is a ledger line, and the lines of one session are limited per hour.
  const sessions = await Promise.all(
    Array.from({ length: 10 }, (_, i) => host.openSession({ name: `s${i}`, granters: ['owner'] })),
  );
  let named = 0;
  const grant = (): PromiseLike<{ readonly id: string }> => {
    named += 1;
    const to = sessions[named % sessions.length]?.id ?? '';
    return E(granter).grant(to, `p${named}`, 'bell', lasting()) as never;
  };
  await E(granter).grant(sessions[0]?.id ?? '', 'bell', 'bell', lasting());
  const connection = await connect<SessionFace>(url, { secret: sessions[0]?.secret ?? '' });
  const bell = (await E(connection.bootstrap).cap('bell')) as unknown as Bell;
  let held = 1;
  for (const n of sizes) {
    await many(n - held, grant);
    held = n;
    globalThis.gc?.();
    const made: string[] = [];
    tell('grant one more', n, await usEach(rounds, atOnce, async () => void made.push((await grant()).id)));
    tell('revoke one', n, await usEach(rounds, atOnce, (i) => E(granter).revoke({ grant: made[i] ?? '' }) as never));
    tell('call through one', n, await usEach(rounds, 200, () => E(bell).ring()));
    tell('list all in pages', n, await medianMs(3, () => listGrants(house, n)));
  }
  connection.close();
  await host.close();
}
