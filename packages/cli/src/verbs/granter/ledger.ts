/** `hob ledger`: what happened, and by whose leave. */
import type { Reached } from '../../daemon/drivers/client.ts';
import { lineNumber } from '../../line/ids.ts';
import { Mistake } from '../../line/mistake.ts';
import { REACH, SESSION } from '../../line/options.ts';
import { isGiven, textOf, type Verb } from '../../line/verb.ts';

/** `hob ledger show` */
export const ledger: Verb = {
  name: 'ledger show',
  about: 'prints the lines of your sessions: all, those of a grant or a session, or those behind one line',
  options: [
    { flags: '--grant <grant>', about: 'of this grant: G3, or its name' },
    SESSION,
    { flags: '--why <line>', about: 'the grant, the request and the answer behind this line: E91' },
    { flags: '--follow', about: 'goes on with new lines, until Ctrl-C' },
    ...REACH,
  ],
  examples: ['hob ledger', 'hob ledger --grant G3', 'hob ledger --why E91', 'hob ledger show --follow'],
  json:
    '{ seq: number, k: string, [field]: unknown }, one line for each, as it is in the ledger (docs/ledger.md).\n' +
    '  With --why, unended: true stands beside a call whose end is not recorded',
  codes: { 1: 'no host serves the state, or there is no such line' },
  hardened: true,
  isUsual: true,
  async run(given, { line, json }) {
    const { CallEnds, linesOf } = await import('@hob/host/client');
    const { withHost } = await import('../../daemon/drivers/client.ts');
    const { idOf, sessionNamed } = await import('../../daemon/find.ts');
    const { isOfGrant, isOfSession, lineText, linesBehind } = await import('../../daemon/ledger-line.ts');
    const { allNames } = await import('../../daemon/names.ts');
    const { dateText } = await import('../../drivers/machine.ts');
    const { pause } = await import('../../drivers/pause.ts');
    type Line = Parameters<typeof lineText>[0];
    const [grant, session, why] = [textOf(given, 'grant'), textOf(given, 'session'), textOf(given, 'why')];
    const print = async ({ granter }: Reached): Promise<number> => {
      let names = await allNames(granter);
      const show = (each: Line): void => {
        line(lineText(each, dateText, names));
        json(each);
      };
      if (why !== undefined) {
        const all: Line[] = [];
        const ends = new CallEnds();
        const unended = new Set<number>();
        for await (const text of linesOf(granter)) {
          const each = JSON.parse(text) as Line;
          all.push(each);
          for (const seq of ends.take(each)) unended.add(seq);
        }
        const asked = lineNumber(why);
        const found = linesBehind(all, asked);
        if (found === undefined)
          throw new Mistake(`there is no line ${why} of your sessions: hob ledger show lists them`);
        for (const each of found) show(unended.has(each.seq) ? { ...each, unended: true } : each);
        if (unended.has(asked))
          line('end not recorded: the host ended before this call, or before the line was on disk');
        return 0;
      }
      // The lists lack grants and sessions that have ended. So an id or a name is not looked up there. Lines have all ids.
      const g = grant === undefined ? undefined : await idOf(granter, 'G', grant);
      const idOfSession = async (text: string): Promise<string> =>
        text.includes('/') ? (await sessionNamed(granter, text)).id : await idOf(granter, 'S', text);
      const s = session === undefined ? undefined : await idOfSession(session);
      let shown = 0;
      for (let from = 1; ; await pause(300)) {
        for await (const text of linesOf(granter, from)) {
          const each = JSON.parse(text) as Line;
          from = each.seq + 1;
          if (each.k === 'name') names = await allNames(granter);
          if ((g !== undefined && !isOfGrant(each, g)) || (s !== undefined && !isOfSession(each, s))) continue;
          show(each);
          shown += 1;
        }
        if (isGiven(given, 'follow')) continue;
        if (shown > 0 || (g ?? s) === undefined) return 0;
        const asked = [grant, session].filter((each) => each !== undefined).join(' and ');
        throw new Mistake(`no line of your sessions names ${asked}: hob ledger lists them`);
      }
    };
    return await withHost(given, print, '. Without a host, hob ledger verify and hob ledger export work');
  },
};
