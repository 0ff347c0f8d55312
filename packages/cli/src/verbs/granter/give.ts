/** `hob give`: hands a cap to a child session. */
import type { Grant } from '@hob/host';
import { Mistake } from '../../line/mistake.ts';
import { LIMITS, REACH } from '../../line/options.ts';
import { GRANT_JSON } from '../../line/shapes.ts';
import { textOf, type Verb } from '../../line/verb.ts';

/** `hob give` */
export const give: Verb = {
  name: 'give',
  operands: '<grant>',
  about: 'gives a cap of a session to one of its children, with the same limits or narrower ones',
  options: [
    { flags: '--to <session>', about: 'the child: S13, or S12/reviewer' },
    { flags: '--as <name>', about: 'the name of the cap in the child (default: the same)' },
    ...LIMITS,
    ...REACH,
  ],
  examples: ['hob give G3 --to S12/reviewer', 'hob give G3 --to S13 --uses 2'],
  json: GRANT_JSON,
  codes: { 1: 'no host serves the state, or it refuses: the message says why' },
  hardened: true,
  async run(given, { line, json }) {
    const { E } = await import('@hob/vat/peer');
    const { withHost } = await import('../../daemon/drivers/client.ts');
    const { grantNamed, sessionNamed } = await import('../../daemon/find.ts');
    const { allNames } = await import('../../daemon/names.ts');
    const { grantJson, grantText } = await import('../../daemon/rows.ts');
    const { limitsOf } = await import('../../line/limits.ts');
    const [to, as] = [textOf(given, 'to'), textOf(given, 'as')];
    if (to === undefined) throw new Mistake('say to which child: hob give G3 --to S12/reviewer', 2);
    const terms = { ...limitsOf(given), ...(as === undefined ? {} : { as }) };
    return await withHost(given, async ({ granter }) => {
      const { session, petname } = await grantNamed(granter, given.operands[0] ?? '');
      const child = await sessionNamed(granter, to);
      const grant = (await E(granter).delegate(session, petname, child.id, terms)) as Grant;
      line(grantText(grant));
      json(grantJson(grant, await allNames(granter)));
      return 0;
    });
  },
};
