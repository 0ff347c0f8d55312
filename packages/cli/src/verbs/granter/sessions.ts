/** `hob sessions`: the open sessions. */
import { REACH } from '../../line/options.ts';
import { SESSION_JSON } from '../../line/shapes.ts';
import type { Verb } from '../../line/verb.ts';

/** `hob sessions` */
export const sessions: Verb = {
  name: 'sessions',
  about: 'lists the open sessions',
  options: [...REACH],
  examples: ['hob sessions'],
  json: `${SESSION_JSON}[]`,
  codes: { 1: 'no host serves the state, or it refuses: the message says why' },
  hardened: true,
  async run(given, { say, json, table }) {
    const { withHost } = await import('../../daemon/drivers/client.ts');
    const { allSessions } = await import('../../daemon/find.ts');
    const { allNames } = await import('../../daemon/names.ts');
    const { SESSION_HEADS, sessionJson, sessionRow } = await import('../../daemon/rows.ts');
    return await withHost(given, async ({ granter }) => {
      const open = await allSessions(granter);
      const names = await allNames(granter);
      if (open.length === 0) say('no session is open');
      else
        table(
          SESSION_HEADS,
          open.map((session) => sessionRow(session, names)),
        );
      json(open.map((session) => sessionJson(session, names)));
      return 0;
    });
  },
};
