/** `hob confirm`: after a restored state. */
import { shortId } from '../../line/ids.ts';
import { REACH } from '../../line/options.ts';
import type { Verb } from '../../line/verb.ts';

/** `hob confirm` */
export const confirm: Verb = {
  name: 'confirm',
  operands: '<grant...>',
  about: 'lets grants work again that wait because the state was restored from a backup; “all” confirms all of them',
  options: [...REACH],
  examples: ['hob list --all', 'hob confirm G3', 'hob confirm all'],
  json: '{ confirmed: string[] }',
  codes: { 1: 'no host serves the state, or it refuses: the message says why' },
  hardened: true,
  async run(given, { line, json }) {
    const { E } = await import('@hob/vat');
    const { withHost } = await import('../../daemon/drivers/client.ts');
    const { allGrants, grantNamed } = await import('../../daemon/find.ts');
    return await withHost(given, async ({ granter }) => {
      const every = given.operands.length === 1 && given.operands[0] === 'all';
      const ids = every
        ? (await allGrants(granter)).filter(({ state }) => state === 'suspended').map(({ id }) => id)
        : await Promise.all(given.operands.map(async (text) => (await grantNamed(granter, text)).id));
      for (const id of ids) {
        await E(granter).confirm(id);
        line(`${shortId('G', id)} is confirmed`);
      }
      json({ confirmed: ids.map((id) => shortId('G', id)) });
      return 0;
    });
  },
};
