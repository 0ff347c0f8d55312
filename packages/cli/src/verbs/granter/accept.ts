/** `hob accept`: accepts a wish list by its hash. */
import type { WishRow } from '../../daemon/daemon.ts';
import { wishLines } from '../../daemon/wish-lines.ts';
import { Mistake } from '../../line/mistake.ts';
import { STATE } from '../../line/options.ts';
import { textOf, type Verb } from '../../line/verb.ts';

/** `hob accept` */
export const accept: Verb = {
  name: 'accept',
  operands: '<list>',
  about:
    'accepts a wish list as it is now: new sessions may ask for what it names, until the file changes or hob revoke --wish',
  options: [
    {
      flags: '--hash <sha256>',
      about: 'accepts only the text with this SHA-256, without a question. Needed where no terminal can ask',
    },
    STATE,
  ],
  examples: [
    'hob accept project/hob.yaml',
    'hob accept project/hob.yaml --hash "$(sha256sum < hob.yaml | cut -c1-64)"',
  ],
  json: '{ name: string, hash: string, accepted: boolean }',
  codes: { 1: 'nothing was accepted: it is not there, has mistakes, is another text, or you said no' },
  hardened: true,
  async run(given, { line, say, json, isJson }) {
    const { atTerminal, confirm } = await import('@hob/host/client');
    const { E } = await import('@hob/vat/peer');
    const { withDaemon } = await import('../../daemon/drivers/client.ts');
    const [name = ''] = given.operands;
    const wanted = textOf(given, 'hash')?.toLowerCase();
    if (wanted !== undefined && !/^[0-9a-f]{64}$/.test(wanted))
      throw new Mistake('--hash takes a SHA-256: 64 hexadecimal digits, as sha256sum prints them', 2);
    return await withDaemon(given, async ({ granter, daemon }) => {
      const all = (await E(daemon).wishes()) as readonly WishRow[];
      const list = all.find((one) => one.name === name);
      if (list === undefined)
        throw new Mistake(`no root has the wish list ${JSON.stringify(name)}: hob wishes lists them`);
      if (list.state === 'mistaken' || list.hash === undefined)
        throw new Mistake(`${name} has mistakes, so it adds nothing:\n${list.mistakes.join('\n')}`);
      const { hash } = list;
      if (wanted !== undefined && wanted !== hash)
        throw new Mistake(`${name} is another text now, with the SHA-256 ${hash}: look at it with hob wishes`);
      for (const text of wishLines(list)) line(text);
      if (wanted === undefined && (isJson || !atTerminal()))
        throw new Mistake('no terminal can ask you: name the text that you have read with --hash', 2);
      const accepted = wanted !== undefined || (await confirm('May new sessions ask for this? (yes or no) '));
      // The hash is that of the text that was shown. If the file has changed since, this accepts nothing of it.
      if (accepted) await E(granter).accept({ name, hash });
      if (accepted) line(`accepted ${name}, until it changes: hob revoke --wish ${name} ends it`);
      else say('nothing was accepted');
      json({ name, hash, accepted });
      return accepted ? 0 : 1;
    });
  },
};
