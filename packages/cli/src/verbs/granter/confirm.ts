/** `hob confirm`: after a restored state. */
import { shortId } from '../../line/ids.ts';
import { REACH } from '../../line/options.ts';
import type { Verb } from '../../line/verb.ts';

/** `hob confirm` */
export const confirm: Verb = {
  name: 'confirm',
  operands: '[grant...]',
  about:
    'lets grants work again that wait because the state was restored from a backup; “all” confirms all of them, and no name lists them',
  options: [...REACH],
  examples: ['hob confirm', 'hob confirm G3', 'hob confirm all'],
  json: '{ confirmed: string[], waiting: string[] }',
  codes: { 1: 'no host serves the state, or it refuses: the message says why' },
  hardened: true,
  async run(given, { line, say, json, table }) {
    const { E } = await import('@hob/vat/peer');
    const { withHost } = await import('../../daemon/drivers/client.ts');
    const { allGrants, grantNamed } = await import('../../daemon/find.ts');
    const { allNames } = await import('../../daemon/names.ts');
    const { GRANT_HEADS, grantRow } = await import('../../daemon/rows.ts');
    return await withHost(given, async ({ granter }) => {
      const every = given.operands.length === 1 && given.operands[0] === 'all';
      const waiting = (await allGrants(granter)).filter(({ state }) => state === 'suspended');
      const ids = every
        ? waiting.map(({ id }) => id)
        : await Promise.all(given.operands.map(async (text) => (await grantNamed(granter, text)).id));
      if (ids.length === 0 && waiting.length === 0)
        say('no grant waits: the state was not put back to an earlier one, or the grants were confirmed');
      if (given.operands.length === 0 && waiting.length > 0) {
        const names = await allNames(granter);
        table(
          GRANT_HEADS,
          waiting.map((grant) => grantRow(grant, names)),
        );
        say('the state was put back to an earlier one: it may not know what was spent or revoked since. Look at each grant, then: hob confirm G3, or hob confirm all'); // biome-ignore format: one line
      }
      for (const id of ids) {
        await E(granter).confirm(id);
        line(`${shortId('G', id)} is confirmed`);
      }
      const left = waiting.filter(({ id }) => !ids.includes(id));
      json({ confirmed: ids.map((id) => shortId('G', id)), waiting: left.map(({ id }) => shortId('G', id)) });
      return 0;
    });
  },
};
