/** `hob ledger retain`: drops old lines. */
import { SENTINEL, STATE, STORE } from '../../line/options.ts';
import { textOf, type Verb } from '../../line/verb.ts';

/** `hob ledger retain` */
export const ledgerRetain: Verb = {
  name: 'ledger retain',
  about:
    'drops lines that are older than some days, up to a checkpoint. No host may serve the state. A signed line records it',
  options: [
    { flags: '--days <n>', about: 'the days of lines that stay' },
    { flags: '--by <name>', about: 'the name of the person, for the ledger (default: operator)' },
    STATE,
    SENTINEL,
    STORE,
  ],
  examples: ['hob ledger export old.jsonl && hob ledger retain --days 90'],
  json: '{ said: string[] }',
  codes: { 1: 'nothing was dropped: a host has the state, or its ledger is not whole' },
  hardened: true,
  async run(given, { line, json }) {
    const { retainAtRest } = await import('@hob/host/programs');
    const { restOf } = await import('../../drivers/at-rest.ts');
    const { machine } = await import('../../drivers/machine.ts');
    const said: string[] = [];
    const retention = {
      days: Number(textOf(given, 'days')),
      by: textOf(given, 'by') ?? 'operator',
      wall: machine.now(),
    };
    const code = await retainAtRest(await restOf(given), retention, (text) => {
      said.push(text);
      line(text);
    });
    json({ said });
    return code;
  },
};
