/** `hob ledger export`: the ledger as JSON Lines. */
import { REACH, STORE } from '../../line/options.ts';
import type { Verb } from '../../line/verb.ts';

/** `hob ledger export` */
export const ledgerExport: Verb = {
  name: 'ledger export',
  operands: '[file]',
  about: 'writes the ledger as JSON Lines to a file, or to the standard output: the lines of your sessions while the state is served, otherwise all', // biome-ignore format: one line
  options: [...REACH, STORE],
  examples: ['hob ledger export ledger.jsonl', 'hob ledger export | head'],
  codes: { 1: 'there is no such state, or the file cannot be written' },
  hardened: true,
  async run(given, { line }) {
    const { holderOf, linesOf } = await import('@hob/host/client');
    const { exportAtRest, writeLines } = await import('@hob/host/programs');
    const { isHere, withHost } = await import('../../daemon/drivers/client.ts');
    const { restOf } = await import('../../drivers/at-rest.ts');
    const { absolute, stateOf } = await import('../../drivers/places.ts');
    const [file] = given.operands;
    const state = stateOf(given);
    const write = (lines: AsyncIterable<string>): Promise<number> =>
      writeLines(file === undefined ? undefined : absolute(file), lines);
    const count =
      isHere(given) && holderOf(state) === 'nobody'
        ? await exportAtRest(await restOf(given), write)
        : await withHost(given, ({ granter }) => write(linesOf(granter)));
    if (file !== undefined) line(`wrote ${count} lines`);
    return 0;
  },
};
