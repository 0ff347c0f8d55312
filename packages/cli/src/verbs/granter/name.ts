/** `hob name`: a person's own names. */
import type { OwnName } from '@hob/host';
import { Mistake } from '../../line/mistake.ts';
import { REACH } from '../../line/options.ts';
import { isGiven, type Verb } from '../../line/verb.ts';

/** `hob name` */
export const name: Verb = {
  name: 'name',
  operands: '[thing] [name]',
  about:
    'gives a grant, a session or a request a name of your own. Verbs take it in place of the id. No session sees it. Without operands: lists your names',
  options: [{ flags: '--remove', about: 'takes the name away' }, ...REACH],
  examples: ['hob name G3 deploy-key', 'hob revoke deploy-key', 'hob name G3 --remove', 'hob name'],
  json: '{ id: string, kind: "grant" | "session" | "request", called: string }[]',
  codes: { 1: 'no host serves the state, or it refuses: the message says why' },
  hardened: true,
  async run(given, { line, say, json, table }) {
    const { E } = await import('@hob/vat/peer');
    const { withHost } = await import('../../daemon/drivers/client.ts');
    const { thingNamed } = await import('../../daemon/find.ts');
    const { allNames, ownNamed, shortOf } = await import('../../daemon/names.ts');
    const [thing, own] = given.operands;
    const remove = isGiven(given, 'remove');
    if (thing === undefined ? remove : (own === undefined) !== remove)
      throw new Mistake('write hob name G3 deploy-key, hob name G3 --remove, or hob name alone', 2);
    const row = (one: OwnName): object => ({ id: shortOf(one), kind: one.kind, called: one.name });
    return await withHost(given, async ({ granter }) => {
      if (thing === undefined) {
        const all = [...(await allNames(granter)).values()];
        if (all.length === 0) say('you gave no names');
        else
          table(
            ['name', 'id', 'is a'],
            all.map((one) => [one.name, shortOf(one), one.kind]),
          );
        json(all.map(row));
        return 0;
      }
      if (own === undefined) {
        // A name also leads to what has ended.
        const removed = await ownNamed(granter, thing);
        await E(granter).removeName(removed.id);
        line(`${shortOf(removed)} has no name any more`);
        json([]);
        return 0;
      }
      const named = (await E(granter).setName(await thingNamed(granter, thing), own)) as OwnName;
      line(`${shortOf(named)} is ${named.name}`);
      json([row(named)]);
      return 0;
    });
  },
};
