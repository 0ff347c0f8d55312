/** `hob restore`: a state from a backup. */
import { STATE } from '../../line/options.ts';
import type { Verb } from '../../line/verb.ts';

/** `hob restore` */
export const restore: Verb = {
  name: 'restore',
  operands: '<file>',
  about: 'makes a state from a backup, in an empty folder. Grants with a limit wait there until hob confirm',
  options: [STATE],
  examples: ['hob restore hob-backup.db', 'hob restore --state /srv/hob/state hob-backup.db'],
  json: '{ state: string }',
  codes: { 1: 'the folder is not empty, or the file is no backup' },
  hardened: true,
  async run(given, { line, json }) {
    const { restoreStore } = await import('@hob/vat/store');
    const { absolute, stateOf } = await import('../../drivers/places.ts');
    const state = stateOf(given);
    await restoreStore(absolute(given.operands[0] ?? ''), { path: state });
    line(`restored into ${state}. Grants with a limit wait: after hob serve, look at hob list --all, then hob confirm`);
    json({ state });
    return 0;
  },
};
