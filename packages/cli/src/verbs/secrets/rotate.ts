/** `hob secret rotate`: another key for all secrets. */
import { SECRETS_KEY, STATE, STORE } from '../../line/options.ts';
import type { Verb } from '../../line/verb.ts';

/** `hob secret rotate` */
export const secretRotate: Verb = {
  name: 'secret rotate',
  about: 'puts all secrets under a new key, and removes the old key. The values stay',
  options: [SECRETS_KEY, STATE, STORE],
  examples: ['hob secret rotate'],
  json: '{ key: string, count: number }',
  codes: { 1: 'the key is not there, a secret cannot be opened, or the state cannot: the secrets are as they were' },
  hardened: true,
  async run(given, { line, json }) {
    const { rotateSecrets } = await import('../../daemon/custody.ts');
    const { withSecretStore } = await import('../../daemon/drivers/secret-store.ts');
    const { keyRingAt } = await import('../../daemon/drivers/secrets-key.ts');
    const { secretsKeyOf } = await import('../../drivers/places.ts');
    const done = await withSecretStore(given, (store) => rotateSecrets(store, keyRingAt(secretsKeyOf(given))));
    line(`${done.count} ${done.count === 1 ? 'secret is' : 'secrets are'} under the key ${done.key}. Earlier backups need the old key: it is gone`); // biome-ignore format: one line
    json(done);
    return 0;
  },
};
