/** `hob refuse`: says no to a request. */
import { shortId } from '../../line/ids.ts';
import { REACH } from '../../line/options.ts';
import { isGiven, type Verb } from '../../line/verb.ts';

/** `hob refuse` */
export const refuse: Verb = {
  name: 'refuse',
  operands: '<request> [why...]',
  about: 'says no to a request; the agent is told why',
  options: [
    { flags: '--lasting', about: 'also refuses the same request later, as long as the session lasts' },
    ...REACH,
  ],
  examples: ['hob refuse R7', 'hob refuse R7 not before the release'],
  json: '{ request: string }',
  codes: { 1: 'no host serves the state, or it refuses: the message says why' },
  hardened: true,
  async run(given, { line, json }) {
    const { refuse: sayNo } = await import('@hob/host/answers');
    const { withHost } = await import('../../daemon/drivers/client.ts');
    const { requestNamed } = await import('../../daemon/find.ts');
    const [text = '', ...why] = given.operands;
    return await withHost(given, async ({ granter }) => {
      const { id } = await requestNamed(granter, text);
      const code = await sayNo(granter, id, why.join(' '), isGiven(given, 'lasting'), (text) =>
        line(text.replaceAll(id, shortId('R', id))),
      );
      json({ request: shortId('R', id) });
      return code;
    });
  },
};
