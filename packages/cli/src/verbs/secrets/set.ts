/** `hob secret set`: stores a secret. */
import { SECRETS_KEY, STATE, STORE } from '../../line/options.ts';
import type { Verb } from '../../line/verb.ts';

/** `hob secret set` */
export const secretSet: Verb = {
  name: 'secret set',
  operands: '<name>',
  about:
    'stores a secret, encrypted. Its value is asked at a terminal, or read from the standard input; it is no operand',
  options: [SECRETS_KEY, STATE, STORE],
  examples: ['hob secret set GH_TOKEN', 'pass show github | hob secret set GH_TOKEN'],
  json: '{ set: string }',
  codes: { 1: 'nothing was stored: the value or the key cannot be used, or the state cannot be opened' },
  hardened: true,
  async run(given, { line, json }) {
    const { setSecret } = await import('../../daemon/custody.ts');
    const { withSecretStore } = await import('../../daemon/drivers/secret-store.ts');
    const { keyRingAt } = await import('../../daemon/drivers/secrets-key.ts');
    const { secretValue } = await import('../../drivers/secret-input.ts');
    const { secretsKeyOf } = await import('../../drivers/places.ts');
    const { checkSecretName, checkSecretValue } = await import('../../secrets/value.ts');
    const name = checkSecretName(given.operands[0] ?? '');
    const value = checkSecretValue(await secretValue(name));
    await withSecretStore(given, (store) => setSecret(store, keyRingAt(secretsKeyOf(given)), name, value), {
      make: true,
    });
    line(`stored the secret ${name}`);
    json({ set: name });
    return 0;
  },
};
