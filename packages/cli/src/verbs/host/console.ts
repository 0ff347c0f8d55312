/** `hob console`: a link to the page on which a person sees, answers and stops. */

import { Mistake } from '../../line/mistake.ts';
import { REACH } from '../../line/options.ts';
import { isGiven, textOf, type Verb } from '../../line/verb.ts';

/** `hob console` */
export const consoleVerb: Verb = {
  name: 'console',
  about: 'opens the page of requests, grants and the ledger in a browser, with a link that works once',
  options: [...REACH, { flags: '--no-open', about: 'only prints the link' }],
  examples: ['hob console', 'hob console --no-open', 'hob console --url ws://127.0.0.1:7710'],
  json: '{ link: string }',
  codes: { 1: 'no host serves the state, or the output is no terminal' },
  hardened: true,
  async run(given, { line, json, isJson, isTerminal }) {
    if (!isJson && !isTerminal)
      throw new Mistake('whoever has the link is the granter for its two minutes, and a pipe may be logged: ask with --json if the program that reads it may have it'); // biome-ignore format: one line
    const { E } = await import('@hob/vat');
    const { granterSocket } = await import('@hob/host/client');
    const { consoleLink } = await import('@hob/console');
    const { withDaemon, withHost } = await import('../../daemon/drivers/client.ts');
    const { opener, openFile, writeWay } = await import('../../daemon/drivers/open-page.ts');
    const { stateOf } = await import('../../drivers/places.ts');
    const url = textOf(given, 'url');
    const link =
      url === undefined
        ? await withDaemon(given, async ({ daemon }) => (await E(daemon).console()) as string)
        : await withHost(given, async ({ granter }) => consoleLink(url, (await E(granter).pageCode()).code));
    json({ link });
    if (isJson) return 0;
    line(`The console, once and within two minutes: ${link}`);
    // The file that leads the browser lies beside the socket of this host.
    const program = isGiven(given, 'noOpen') || url !== undefined ? undefined : opener();
    if (program === undefined) return 0;
    const opened = await openFile(program, writeWay(granterSocket(stateOf(given)).folder, link));
    if (!opened) line(`${program} did not open it: open the link in your browser`);
    return 0;
  },
};
