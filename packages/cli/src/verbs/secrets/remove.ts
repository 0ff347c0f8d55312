/** `hob secret remove`: removes a secret. */
import { STATE, STORE } from '../../line/options.ts';
import type { Verb } from '../../line/verb.ts';

/** `hob secret remove` */
export const secretRemove: Verb = {
  name: 'secret remove',
  operands: '<name>',
  about: 'removes a secret. It needs no key',
  options: [STATE, STORE],
  examples: ['hob secret remove GH_TOKEN'],
  json: '{ removed: string }',
  codes: { 1: 'there is no such secret, or the state cannot be opened' },
  hardened: true,
  async run(given, { line, json }) {
    const { removeSecret } = await import('../../daemon/custody.ts');
    const { withSecretStore } = await import('../../daemon/drivers/secret-store.ts');
    const { checkSecretName } = await import('../../secrets/value.ts');
    const name = checkSecretName(given.operands[0] ?? '');
    await withSecretStore(given, (store) => removeSecret(store, name));
    line(`removed the secret ${name}. Copies of the state and its backups still have its ciphertext: change it where it is used`); // biome-ignore format: one line
    json({ removed: name });
    return 0;
  },
};
