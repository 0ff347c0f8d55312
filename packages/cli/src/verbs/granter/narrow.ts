/** `hob narrow`: takes away from a grant. */
import type { Grant } from '@hob/host';
import { Mistake } from '../../line/mistake.ts';
import { LIMITS, REACH } from '../../line/options.ts';
import { GRANT_JSON } from '../../line/shapes.ts';
import { textOf, type Verb } from '../../line/verb.ts';

/** `hob narrow` */
export const narrow: Verb = {
  name: 'narrow',
  operands: '<grant>',
  about: 'takes uses, time or methods away from a grant, while it is in use',
  options: [...LIMITS, { flags: '--methods <a,b>', about: 'these methods only' }, ...REACH],
  examples: ['hob narrow G3 --uses 3', 'hob narrow G3 --methods readText,list'],
  json: GRANT_JSON,
  codes: { 1: 'no host serves the state, or it refuses: the message says why' },
  hardened: true,
  async run(given, { line, json }) {
    const { E } = await import('@hob/vat/peer');
    const { withHost } = await import('../../daemon/drivers/client.ts');
    const { grantNamed } = await import('../../daemon/find.ts');
    const { allNames } = await import('../../daemon/names.ts');
    const { grantJson, grantText } = await import('../../daemon/rows.ts');
    const { limitsOf } = await import('../../line/limits.ts');
    const methods = textOf(given, 'methods');
    const terms = { ...limitsOf(given), ...(methods === undefined ? {} : { methods: methods.split(',') }) };
    if (Object.keys(terms).length === 0)
      throw new Mistake('say what to take away: --uses 3, --for 15m or --methods a,b', 2);
    return await withHost(given, async ({ granter }) => {
      const { id } = await grantNamed(granter, given.operands[0] ?? '');
      const grant = (await E(granter).narrow(id, terms)) as Grant;
      line(grantText(grant));
      json(grantJson(grant, await allNames(granter)));
      return 0;
    });
  },
};
