/** Measures a durable host with many sessions, each with a grant. */
import type { SessionFace } from '@hob/host';
import { connect, E } from '@hob/vat';
import { median } from '../measure.ts';
import type { Tell } from './fields.ts';
import { type Bell, type House, lasting, openHouse, pages } from './hosts.ts';
import { cpuMs, folderOf, many, medianMs, usEach } from './times.ts';

const atOnce = 50;
const rounds = 15;

export async function measureSessions(sizes: readonly number[], tell: Tell): Promise<void> {
  const folder = folderOf('sessions');
  let house = await openHouse(folder);
  let named = 0;
  const open = (): Promise<{ readonly id: string; readonly secret: string }> => {
    named += 1;
    return house.host.openSession({ name: `s${named}`, granters: ['owner'] });
  };
  let held = 0;
  const secrets: string[] = [];
  const openWithGrant = async (): Promise<void> => {
    const { id, secret } = await open();
    await E(house.granter).grant(id, 'bell', 'bell', lasting());
    if (secrets.length < 1000) secrets.push(secret);
  };
  for (const n of sizes) {
    await many(n - held, openWithGrant);
    held = n;
    globalThis.gc?.();
    const made: string[] = [];
    tell('open one more', n, await usEach(rounds, atOnce, async () => void made.push((await open()).id)));
    tell('end one', n, await usEach(rounds, atOnce, (i) => E(house.granter).end(made[i] ?? '') as never));
    // The rows of an ended session are removed later, in slices. That is not part of the next cost.
    await new Promise((resolve) => setTimeout(resolve, 1000));
    tell('enter one and call', n, await medianMs(31, (i) => enter(house, secrets[(i * 37) % secrets.length] ?? '')));
    tell('list all in pages', n, await medianMs(3, () => listSessions(house, n)));
    const took: number[] = [];
    for (let round = 0; round < 3; round += 1) {
      await house.host.close();
      globalThis.gc?.();
      took.push(
        await cpuMs(async () => {
          house = await openHouse(folder);
        }),
      );
    }
    tell('open the host again', n, median(took));
  }
  await house.host.close();
}

async function enter({ url }: House, secret: string): Promise<void> {
  const connection = await connect<SessionFace>(url, { secret });
  await E(E(connection.bootstrap).cap('bell') as unknown as Bell).ring();
  connection.close();
}

const listSessions = ({ granter }: House, least: number): Promise<void> =>
  pages<{ readonly id: string }>(least, (last) => E(granter).sessions(last?.id) as never);
