/** `hob list`: the grants. */
import { REACH, SESSION } from '../../line/options.ts';
import { GRANT_JSON } from '../../line/shapes.ts';
import { isGiven, textOf, type Verb } from '../../line/verb.ts';

/** `hob list` */
export const list: Verb = {
  name: 'list',
  about: 'lists the live grants, with the uses and the time that are left',
  options: [SESSION, { flags: '--all', about: 'also grants that have ended' }, ...REACH],
  examples: ['hob list', 'hob list --session S12 --all'],
  json: `${GRANT_JSON}[]`,
  codes: { 1: 'no host serves the state, or it refuses: the message says why' },
  hardened: true,
  async run(given, { say, json, table }) {
    const { withHost } = await import('../../daemon/drivers/client.ts');
    const { allGrants, sessionNamed } = await import('../../daemon/find.ts');
    const { allNames } = await import('../../daemon/names.ts');
    const { GRANT_HEADS, grantJson, grantRow } = await import('../../daemon/rows.ts');
    const of = textOf(given, 'session');
    return await withHost(given, async ({ granter }) => {
      const session = of === undefined ? {} : { session: (await sessionNamed(granter, of)).id };
      const grants = await allGrants(granter, { ...session, ...(isGiven(given, 'all') ? {} : { live: true }) });
      const names = await allNames(granter);
      if (grants.length === 0) say(isGiven(given, 'all') ? 'no grants of open sessions' : 'no live grants');
      else
        table(
          GRANT_HEADS,
          grants.map((grant) => grantRow(grant, names)),
        );
      json(grants.map((grant) => grantJson(grant, names)));
      return 0;
    });
  },
};
