/** Programs of other versions of the tables, for tests: the same code with other steps. */
import type { Store } from '@hob/vat';
import { diskIn, signerFrom, startThread, storeOn } from '@hob/vat/engine';
import { serverAt } from '../src/address.ts';
import type { Given } from '../src/drivers/store-thread.ts';
import { STORE_THREAD } from '../src/drivers/thread-place.ts';
import type { Step } from '../src/schema.ts';

interface Place {
  readonly url: string;
  readonly schema: string;
  readonly leaseMs?: number;
  readonly standby?: boolean;
  readonly look?: boolean;
}

/** Opens a store as a program with these steps does. */
export async function storeOfSteps(
  { url, schema, leaseMs = 2000, standby = false, look = false }: Place,
  steps: readonly Step[],
): Promise<Store> {
  const options = { schema, leaseMs, standby, look, shared: true, steps };
  const given: Given = { server: serverAt(url, {}), sentinel: undefined, options };
  const thread = await startThread(STORE_THREAD, given);
  return storeOn(await diskIn(thread, () => signerFrom(thread.ask('key') as string)));
}
