/** `hob revoke`: ends grants. */
import { Mistake } from '../../line/mistake.ts';
import { REACH, SESSION } from '../../line/options.ts';
import { isGiven, textOf, type Verb } from '../../line/verb.ts';

/** `hob revoke` */
export const revoke: Verb = {
  name: 'revoke',
  operands: '[grant]',
  about:
    'ends a grant, all grants of a session, all grants, or a wish list; it returns when nothing works under them any more',
  options: [
    SESSION,
    { flags: '--all', about: 'all grants of all sessions' },
    { flags: '--wish <list>', about: 'the acceptance of a wish list, and what it filled: project/hob.yaml' },
    ...REACH,
  ],
  examples: ['hob revoke G3', 'hob revoke --session S12', 'hob revoke --all', 'hob revoke --wish project/hob.yaml'],
  json: '{ revoked: string }',
  codes: { 1: 'no host serves the state, or it refuses: the message says why' },
  hardened: true,
  async run(given, { line, json }) {
    const { E } = await import('@hob/vat/peer');
    const { withHost } = await import('../../daemon/drivers/client.ts');
    const { grantNamed, sessionNamed } = await import('../../daemon/find.ts');
    const [[one], session, wish] = [given.operands, textOf(given, 'session'), textOf(given, 'wish')];
    const everything = isGiven(given, 'all');
    if ([one, session, wish].filter((each) => each !== undefined).length + Number(everything) !== 1)
      throw new Mistake('name what to revoke: hob revoke G3, hob revoke --session S12, hob revoke --wish project/hob.yaml, or hob revoke --all', 2); // biome-ignore format: one line
    return await withHost(given, async ({ granter }) => {
      const why = 'from the command line';
      if (one !== undefined) await E(granter).revoke({ grant: (await grantNamed(granter, one)).id }, why);
      else if (session !== undefined)
        await E(granter).revoke({ session: (await sessionNamed(granter, session)).id }, why);
      else if (wish !== undefined) await E(granter).endAcceptance(wish, why);
      else await E(granter).revoke('all', why);
      const revoked = one ?? session ?? wish ?? 'all';
      line(`revoked ${revoked}`);
      json({ revoked });
      return 0;
    });
  },
};
