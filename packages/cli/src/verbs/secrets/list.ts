/** `hob secret list`: the names of the secrets. */
import { SECRETS_KEY, STATE, STORE } from '../../line/options.ts';
import type { Verb } from '../../line/verb.ts';

/** `hob secret list` */
export const secretList: Verb = {
  name: 'secret list',
  about: 'lists the names of the secrets, and whether their key is there. It shows no value and no length',
  options: [SECRETS_KEY, STATE, STORE],
  examples: ['hob secret list'],
  json: '{ name: string, key: string, opens: boolean }[]',
  codes: { 1: 'the state or the key cannot be opened' },
  hardened: true,
  async run(given, { say, json, table }) {
    const { listSecrets } = await import('../../daemon/custody.ts');
    const { withSecretStore } = await import('../../daemon/drivers/secret-store.ts');
    const { keyRingAt } = await import('../../daemon/drivers/secrets-key.ts');
    const { secretsKeyOf } = await import('../../drivers/places.ts');
    const rows = await withSecretStore(given, (store) => listSecrets(store, keyRingAt(secretsKeyOf(given))));
    if (rows.length === 0) say('there is no secret');
    else table(['name', 'key', 'state'], rows.map(({ name, key, opens }) => [name, key, opens ? 'ok' : 'cannot be opened'])); // biome-ignore format: one line
    json(rows);
    return 0;
  },
};
