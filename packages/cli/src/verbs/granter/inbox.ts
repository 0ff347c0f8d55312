/** `hob inbox`: the requests that wait. */
import type { Request } from '@hob/host';
import type { Names } from '../../daemon/names.ts';
import { shortId } from '../../line/ids.ts';
import { REACH } from '../../line/options.ts';
import { REQUEST_JSON } from '../../line/shapes.ts';
import { isGiven, type Verb } from '../../line/verb.ts';

/** `hob inbox` */
export const inbox: Verb = {
  name: 'inbox',
  operands: '[request]',
  about: 'lists the requests that wait for an answer, shows a whole one, or lets you answer them as they arrive',
  options: [
    {
      flags: '--follow',
      about: 'a live list: arrow keys choose a request, Enter answers it, q leaves. Without a terminal: lines',
    },
    ...REACH,
  ],
  examples: ['hob inbox', 'hob inbox R7', 'hob inbox --follow'],
  json: `${REQUEST_JSON}[], with --follow one line for each request`,
  codes: { 1: 'no host serves the state, it refuses (the message says why), or the terminal is gone' },
  hardened: true,
  async run(given, { line, say, json, table, isJson, isTerminal }) {
    const { card } = await import('@hob/host/client');
    const { withHost } = await import('../../daemon/drivers/client.ts');
    const { allRequests, requestNamed } = await import('../../daemon/find.ts');
    const { allNames, namesLine } = await import('../../daemon/names.ts');
    const { REQUEST_HEADS, requestJson, requestRow } = await import('../../daemon/rows.ts');
    const { canBeLive, liveInbox } = await import('../../daemon/inbox/drivers/terminal.ts');
    const { pause, ring } = await import('../../drivers/pause.ts');
    return await withHost(given, async ({ granter }) => {
      const [only] = given.operands;
      const show = (request: Request, names: Names): void => {
        for (const text of card(request)) line(text.replaceAll(request.id, shortId('R', request.id)));
        const own = namesLine([request.id, ...request.asker], names);
        if (own !== undefined) line(own);
      };
      if (only !== undefined) {
        const request = await requestNamed(granter, only);
        const names = await allNames(granter);
        show(request, names);
        json([requestJson(request, names)]);
        return 0;
      }
      if (!isGiven(given, 'follow')) {
        const waiting = await allRequests(granter);
        const names = await allNames(granter);
        if (waiting.length === 0) say('no request waits');
        else
          table(
            REQUEST_HEADS,
            waiting.map((request) => requestRow(request, names)),
          );
        json(waiting.map((request) => requestJson(request, names)));
        return 0;
      }
      if (!isJson && canBeLive()) {
        const { code, said } = await liveInbox(granter);
        for (const text of said) line(text);
        return code;
      }
      for (const shown = new Set<string>(); ; await pause(300))
        for (const request of await allRequests(granter)) {
          if (shown.has(request.id)) continue;
          shown.add(request.id);
          const names = await allNames(granter);
          if (isTerminal) ring();
          show(request, names);
          line(`  to answer:  hob grant ${shortId('R', request.id)}   or   hob refuse ${shortId('R', request.id)}`);
          json(requestJson(request, names));
        }
    });
  },
};
