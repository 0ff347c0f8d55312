/** `hob assess replay`: what a firewall that enforces would have asked. */
import type { AskedOf, Replay } from '@hob/firewall';
import { REACH } from '../../line/options.ts';
import type { Verb } from '../../line/verb.ts';

/** `hob assess replay` */
export const assessReplay: Verb = {
  name: 'assess replay',
  operands: '[ledger]',
  about:
    'says what a firewall that enforces would have asked you, by class, by day and by cap: of your sessions, or of an exported ledger', // biome-ignore format: one line
  options: [...REACH],
  examples: ['hob assess replay', 'hob assess replay ledger.jsonl --json'],
  json:
    '{ calls: number, unassessed: number, asks: number, byClass: { [class]: { calls: number, asks: number } },\n' +
    '  byDay: { [day]: { calls, asks } }, byGrant: { [grant]: { calls, asks, petname?: string, session?: string } } }',
  codes: { 1: 'there is no such ledger, or it is not whole' },
  hardened: true,
  async run(given, { line, say, json, table }) {
    const { replay } = await import('@hob/firewall');
    const { readLedger } = await import('../../daemon/drivers/ledger-source.ts');
    const { shortId } = await import('../../line/ids.ts');
    const { lines } = await readLedger(given, given.operands[0]);
    const said = await replay(lines.map((one) => JSON.stringify(one)));
    json(said);
    for (const text of linesOf(said)) line(text);
    if (said.calls === 0) say('hob: no call has an assessment: hob serve makes them with firewall: { mode: observe } in the manifest'); // biome-ignore format: one line
    const rows = (heads: readonly string[], all: readonly (readonly [string, AskedOf])[], most = 1000): void => {
      if (all.length > 0) table([...heads, 'asks', 'calls'], all.slice(0, most).map(([name, row]) => [name, ...capOf(heads, row), `${row.asks}`, `${row.calls}`])); // biome-ignore format: one line
    };
    const byDay = Object.entries(said.byDay).sort(([a], [b]) => (a < b ? -1 : 1));
    rows(['class'], Object.entries(said.byClass));
    rows(['day'], byDay);
    rows(['grant', 'cap'], Object.entries(said.byGrant).map(([id, row]) => [shortId('G', id), row] as const), 20); // biome-ignore format: one line
    return 0;
  },
};

const linesOf = ({ calls, asks, unassessed }: Replay): readonly string[] => [
  `${asks} of ${calls} calls would have waited for a person`,
  ...(unassessed === 0 ? [] : [`${unassessed} calls have no assessment: they were made without a firewall`]),
];

const capOf = (heads: readonly string[], { petname = '?' }: AskedOf): readonly string[] => heads.length === 1 ? [] : [petname]; // biome-ignore format: one line
