/** `hob sturdyref mint`, `list` and `rotate`: secrets that open one cap for whoever has them. */
import type { Grant } from '@hob/host';
import { outletOf, SECRET_TO } from '../../daemon/outlet.ts';
import { REACH, TERMS } from '../../line/options.ts';
import { GRANT_JSON } from '../../line/shapes.ts';
import type { Verb } from '../../line/verb.ts';

const CODES = { 1: 'no host serves the state, or it refuses: the message says why' };

/** `hob sturdyref mint` */
export const sturdyrefMint: Verb = {
  name: 'sturdyref mint',
  operands: '<session> <cap>',
  about: 'makes a secret that opens this cap of that session for its bearer. It is a grant of its own',
  options: [SECRET_TO, ...TERMS, ...REACH],
  examples: ['hob sturdyref mint S12 notes --uses 5 --for 1h --secret-to notes.secret'],
  json: GRANT_JSON,
  codes: CODES,
  hardened: true,
  async run(given, output) {
    const { mintSturdyref } = await import('@hob/host/programs');
    const { withHost } = await import('../../daemon/drivers/client.ts');
    const { grantNamed, sessionNamed } = await import('../../daemon/find.ts');
    const { allNames } = await import('../../daemon/names.ts');
    const { grantJson } = await import('../../daemon/rows.ts');
    const { termsOf } = await import('../../line/limits.ts');
    const terms = termsOf(given);
    const secretTo = await outletOf(given, output);
    const [session = '', petname = ''] = given.operands;
    return await withHost(given, async ({ granter }) => {
      const { id } = await sessionNamed(granter, session);
      const grant = await mintSturdyref(granter, { session: id, petname, terms }, secretTo, output.line);
      output.json(grantJson(await grantNamed(granter, grant), await allNames(granter)));
      return 0;
    });
  },
};

/** `hob sturdyref list` */
export const sturdyrefList: Verb = {
  name: 'sturdyref list',
  about: 'lists the grants that have such a secret. hob revoke ends one with its secret',
  options: [...REACH],
  examples: ['hob sturdyref list'],
  json: `${GRANT_JSON}[]`,
  codes: CODES,
  hardened: true,
  async run(given, { say, json, table }) {
    const { allOf } = await import('@hob/host/client');
    const { E } = await import('@hob/vat/peer');
    const { withHost } = await import('../../daemon/drivers/client.ts');
    const { allNames } = await import('../../daemon/names.ts');
    const { GRANT_HEADS, grantJson, grantRow } = await import('../../daemon/rows.ts');
    return await withHost(given, async ({ granter }) => {
      const found: Grant[] = [];
      for await (const grant of allOf(async (after) => (await E(granter).sturdyrefs(after)) as readonly Grant[]))
        found.push(grant);
      const names = await allNames(granter);
      if (found.length === 0) say('no sturdyrefs');
      else
        table(
          GRANT_HEADS,
          found.map((grant) => grantRow(grant, names)),
        );
      json(found.map((grant) => grantJson(grant, names)));
      return 0;
    });
  },
};

/** `hob sturdyref rotate` */
export const sturdyrefRotate: Verb = {
  name: 'sturdyref rotate',
  operands: '<grant>',
  about: 'makes a new secret. The old one stops working when the new one is first used',
  options: [SECRET_TO, ...REACH],
  examples: ['hob sturdyref rotate G4 --secret-to notes.secret'],
  json: '{ rotated: string }',
  codes: CODES,
  hardened: true,
  async run(given, output) {
    const { rotateSturdyref } = await import('@hob/host/programs');
    const { withHost } = await import('../../daemon/drivers/client.ts');
    const { grantNamed } = await import('../../daemon/find.ts');
    const { shortId } = await import('../../line/ids.ts');
    const secretTo = await outletOf(given, output);
    return await withHost(given, async ({ granter }) => {
      const { id } = await grantNamed(granter, given.operands[0] ?? '');
      await rotateSturdyref(granter, id, secretTo);
      output.json({ rotated: shortId('G', id) });
      return 0;
    });
  },
};
