/** `hob backup`: the state in one file. */
import { Mistake } from '../../line/mistake.ts';
import { STATE } from '../../line/options.ts';
import type { Verb } from '../../line/verb.ts';

/** `hob backup` */
export const backup: Verb = {
  name: 'backup',
  operands: '<file>',
  about: 'writes the whole state into one new file, also while it is served. The file has the key of the ledger',
  options: [STATE],
  examples: ['hob backup hob-backup.db', 'hob backup --state /srv/hob/state hob-backup.db'],
  json: '{ file: string, served: boolean }',
  codes: { 1: 'there is no state, another program has it, or the file is there already' },
  hardened: true,
  async run(given, { line, json }) {
    const { granterSocket, holderOf } = await import('@hob/host/client');
    const { isElsewhere, isState } = await import('@hob/host/programs');
    const { backup: write, openStore } = await import('@hob/vat/store');
    const { E } = await import('@hob/vat');
    const { checkFree, takeCopy } = await import('../../daemon/drivers/copies.ts');
    const { withDaemon } = await import('../../daemon/drivers/client.ts');
    const { absolute, stateOf } = await import('../../drivers/places.ts');
    const state = stateOf(given);
    if (!isState(state)) throw new Mistake('there is no state of a host: name its folder with --state');
    if (isElsewhere(state))
      throw new Mistake('this state is in a database: back it up with pg_basebackup or pg_dump, as the README of @hob/store-postgres says'); // biome-ignore format: one line
    const file = absolute(given.operands[0] ?? '');
    const served = holderOf(state) !== 'nobody';
    if (served) {
      checkFree(file);
      takeCopy(granterSocket(state).folder, await withDaemon(given, ({ daemon }) => E(daemon).backup()), file);
    } else {
      const store = await openStore({ path: state, look: true });
      try {
        await write(store, file);
      } finally {
        await store.close();
      }
    }
    line(`wrote ${file}: guard it like the state`);
    json({ file, served });
    return 0;
  },
};
