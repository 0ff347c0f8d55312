/** `hob wishes`: the wish lists of the roots. */
import type { WishRow } from '../../daemon/daemon.ts';
import { WISH_JSON, wishLines } from '../../daemon/wish-lines.ts';
import { STATE } from '../../line/options.ts';
import type { Verb } from '../../line/verb.ts';

/** `hob wishes` */
export const wishes: Verb = {
  name: 'wishes',
  about: 'shows the wish lists: the files ROOT/hob.yaml, in which an agent or a repository names what to ask for',
  options: [STATE],
  examples: ['hob wishes', 'hob wishes --json'],
  json: `${WISH_JSON}[]`,
  codes: { 1: 'no host serves the state, or it refuses: the message says why' },
  hardened: true,
  async run(given, { line, say, json }) {
    const { E } = await import('@hob/vat/peer');
    const { withDaemon } = await import('../../daemon/drivers/client.ts');
    return await withDaemon(given, async ({ daemon }) => {
      const all = (await E(daemon).wishes()) as readonly WishRow[];
      if (all.length === 0) say('no root has a wish list');
      for (const one of all) for (const text of wishLines(one)) line(text);
      json(all);
      return 0;
    });
  },
};
