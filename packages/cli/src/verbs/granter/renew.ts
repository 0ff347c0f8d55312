/** `hob renew`: lets a grant last longer. */
import type { Grant } from '@hob/host';
import { Mistake } from '../../line/mistake.ts';
import { REACH } from '../../line/options.ts';
import { GRANT_JSON } from '../../line/shapes.ts';
import { textOf, type Verb } from '../../line/verb.ts';

/** `hob renew` */
export const renew: Verb = {
  name: 'renew',
  operands: '<grant>',
  about: 'sets how long a live grant lasts from now on: at most 90 days',
  options: [{ flags: '--for <time>', about: 'from now on: 15m, 8h, 30d' }, ...REACH],
  examples: ['hob renew G3 --for 8h'],
  json: GRANT_JSON,
  codes: { 1: 'no host serves the state, or it refuses: the message says why' },
  hardened: true,
  async run(given, { line, json }) {
    const { E } = await import('@hob/vat/peer');
    const { withHost } = await import('../../daemon/drivers/client.ts');
    const { grantNamed } = await import('../../daemon/find.ts');
    const { allNames } = await import('../../daemon/names.ts');
    const { grantJson, grantText } = await import('../../daemon/rows.ts');
    const { machine } = await import('../../drivers/machine.ts');
    const { durationOf } = await import('../../line/limits.ts');
    const time = textOf(given, 'for');
    if (time === undefined) throw new Mistake('say for how long: hob renew G3 --for 8h', 2);
    const ms = durationOf('--for', time);
    return await withHost(given, async ({ granter }) => {
      const { id } = await grantNamed(granter, given.operands[0] ?? '');
      const grant = (await E(granter).renew(id, machine.now() + ms)) as Grant;
      line(grantText(grant));
      json(grantJson(grant, await allNames(granter)));
      return 0;
    });
  },
};
