/** A durable host with one granter and one offer, for the fields `sessions` and `grants`. */
import { type Granter, openHost } from '@hob/host';
import { type Definition, define, E, type Far } from '@hob/vat';

export interface Bell {
  ring(): string;
}
const BellActor: Definition<Bell, []> = define('growth.bell', () => ({ ring: () => 'ding' }));

export interface House {
  readonly host: Awaited<ReturnType<typeof openHost>>;
  readonly granter: Far<Granter>;
  readonly url: string;
}

/** Opens a host on the state in `stateDir`, which may be new. */
export async function openHouse(stateDir: string): Promise<House> {
  const host = await openHost({ stateDir, definitions: [BellActor] });
  await host.offer('bell', await host.vats.vat('growth').root('bell', () => BellActor()));
  const { granter } = await host.ensureGranter('owner');
  const { url } = await host.serve();
  return { host, granter, url };
}

/** Terms of a grant that outlives a restart of its host. */
export const lasting = (): { readonly until: number } => ({ until: Date.now() + 80 * 86_400_000 });

/** Reads all pages; throws if there are fewer than `least`. */
export async function pages<T>(least: number, next: (last: T | undefined) => PromiseLike<readonly T[]>): Promise<void> {
  let seen = 0;
  for (let last: T | undefined; ; ) {
    const page = await next(last);
    seen += page.length;
    last = page.at(-1);
    if (last === undefined) break;
  }
  if (seen < least) throw new Error(`only ${seen} of ${least} were listed`);
}

/** Lists all grants. */
export const listGrants = ({ granter }: House, least: number): Promise<void> =>
  pages<{ readonly id: string }>(
    least,
    (last) => E(granter).list(last === undefined ? {} : { after: last.id }) as never,
  );
