/** `hob end`: ends a session. */
import { shortId } from '../../line/ids.ts';
import { REACH } from '../../line/options.ts';
import type { Verb } from '../../line/verb.ts';

/** `hob end` */
export const end: Verb = {
  name: 'end',
  operands: '<session>',
  about: 'ends a session and its children, with all their grants',
  options: [...REACH],
  examples: ['hob end S12'],
  json: '{ ended: string }',
  codes: { 1: 'no host serves the state, or it refuses: the message says why' },
  hardened: true,
  async run(given, { line, json }) {
    const { E } = await import('@hob/vat/peer');
    const { withHost } = await import('../../daemon/drivers/client.ts');
    const { sessionNamed } = await import('../../daemon/find.ts');
    return await withHost(given, async ({ granter }) => {
      const { id } = await sessionNamed(granter, given.operands[0] ?? '');
      await E(granter).end(id, 'from the command line');
      line(`ended ${shortId('S', id)}`);
      json({ ended: shortId('S', id) });
      return 0;
    });
  },
};
