/** `hob grant`: says yes to a request. */
import { shortId } from '../../line/ids.ts';
import { REACH, TERMS } from '../../line/options.ts';
import { isGiven, type Verb } from '../../line/verb.ts';

/** `hob grant` */
export const grant: Verb = {
  name: 'grant',
  operands: '<request> [digest]',
  about:
    'says yes to a request, on the terms that were asked or on narrower ones. With the first letters of the digest that was shown, it is that request or none',
  options: [...TERMS, { flags: '--yes', about: 'does not ask at a terminal' }, ...REACH],
  examples: [
    'hob grant R7',
    'hob grant R7 --uses 5 --for 15m',
    'hob grant R7 k5x2hq7wnv3a',
    'hob grant R7 --until 2027-01-31 --methods readText,list',
  ],
  json: '{ request: string, granted: boolean }',
  codes: { 1: 'nothing was granted: refused, not found, no host, or you said no' },
  hardened: true,
  async run(given, { line, say, json, isJson }) {
    const { approve } = await import('@hob/host/answers');
    const { atTerminal, confirm } = await import('@hob/host/client');
    const { withHost } = await import('../../daemon/drivers/client.ts');
    const { requestNamed } = await import('../../daemon/find.ts');
    const { machine } = await import('../../drivers/machine.ts');
    const { termsOf } = await import('../../line/limits.ts');
    const terms = termsOf(given);
    return await withHost(given, async ({ granter }) => {
      const [name = '', shown] = given.operands;
      const { id, digest } = await requestNamed(granter, name);
      const short = (text: string): string => text.replaceAll(id, shortId('R', id));
      const agree = async (lines: readonly string[]): Promise<boolean> => {
        if (isGiven(given, 'yes') || isJson || !atTerminal()) return true;
        for (const text of lines) say(short(text));
        return await confirm('Approve? (yes or no) ');
      };
      // The id names what was shown: a request that changes gets another id.
      const code = await approve(granter, { id, digest: shown ?? digest, terms, wall: machine.now() }, agree, (text) =>
        line(short(text)),
      );
      json({ request: shortId('R', id), granted: code === 0 });
      return code;
    });
  },
};
