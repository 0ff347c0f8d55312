/** `hob granter list` and `secret`: the people who may say yes to the sessions of the manifest. */

import { outletOf, SECRET_TO } from '../../daemon/outlet.ts';
import type { GranterRow } from '../../daemon/served-granters.ts';
import { STATE } from '../../line/options.ts';
import type { Verb } from '../../line/verb.ts';

/** `hob granter list` */
export const granterList: Verb = {
  name: 'granter list',
  about: 'lists the granters of the manifest that is served, and how each reaches the host',
  options: [STATE],
  examples: ['hob granter list'],
  json: '{ name: string, by: "socket" | "secret" }[]',
  codes: { 1: 'no host serves the state, or it refuses: the message says why' },
  hardened: true,
  isUsual: true,
  async run(given, { json, table }) {
    const { E } = await import('@hob/vat/peer');
    const { withDaemon } = await import('../../daemon/drivers/client.ts');
    return await withDaemon(given, async ({ daemon }) => {
      const all = (await E(daemon).granters()) as readonly GranterRow[];
      table(
        ['granter', 'by'],
        all.map(({ name, by }) => [name, by]),
      );
      json(all);
      return 0;
    });
  },
};

/** `hob granter secret` */
export const granterSecret: Verb = {
  name: 'granter secret',
  operands: '<name>',
  about:
    'makes a new secret for a granter of the manifest, who gives it to each verb with --url. The old one ends at once',
  options: [SECRET_TO, STATE],
  examples: ['hob granter secret ann --secret-to ann.secret', 'hob inbox --url ws://127.0.0.1:7710 < ann.secret'],
  json: '{ granter: string }',
  codes: { 1: 'no host serves the state, there is no such granter, or the secret cannot be handed over' },
  hardened: true,
  async run(given, output) {
    const { E } = await import('@hob/vat/peer');
    const { withDaemon } = await import('../../daemon/drivers/client.ts');
    const secretTo = await outletOf(given, output);
    const [name = ''] = given.operands;
    return await withDaemon(given, async ({ daemon }) => {
      await secretTo(async () => (await E(daemon).granterSecret(name)) as string);
      output.json({ granter: name });
      return 0;
    });
  },
};
