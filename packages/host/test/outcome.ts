/** How a call of an agent ends, with a granter who refuses each question. */
import { E } from '@hob/vat';
import type { Request } from '../src/index.ts';
import type { Scene } from './asking.ts';
import { code } from './test-host.ts';

/** How a call ended: its code, or `asked` if it waits. A question is refused, and the call is over then. */
export async function outcome(at: Pick<Scene, 'owner'>, call: Promise<unknown>): Promise<string> {
  let over = false;
  const ended = code(call).finally(() => {
    over = true;
  });
  const asked = (async () => {
    for (;;) {
      const [first] = (await E(at.owner).inbox()) as readonly Request[];
      if (first === undefined && over) return undefined;
      if (first === undefined) continue;
      await E(at.owner).answer(first.id, { refuse: 'once', digest: first.digest } as never);
      return 'asked';
    }
  })();
  const [how, waited] = await Promise.all([ended, asked]);
  return waited ?? how;
}
