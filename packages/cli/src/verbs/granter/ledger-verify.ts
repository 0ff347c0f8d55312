/** `hob ledger verify`: whether nobody changed the ledger. */
import type { LedgerVerdict } from '@hob/vat';
import { REACH, SENTINEL, STORE } from '../../line/options.ts';
import type { Output, Verb } from '../../line/verb.ts';

/** As many checkpoints as one message takes. Those before them vouch for less. */
const MOST_AGAINST = 500;

/** `hob ledger verify` */
export const ledgerVerify: Verb = {
  name: 'ledger verify',
  operands: '[file]',
  about: 'checks the whole ledger of the state, served or not, or an exported file',
  options: [
    { flags: '--against <file>', about: 'also checks each checkpoint in this file, which was kept elsewhere' },
    ...REACH,
    SENTINEL,
    STORE,
  ],
  examples: ['hob ledger verify', 'hob ledger verify ledger.jsonl', 'hob ledger verify --against checkpoints.txt'],
  json:
    '{ ok: boolean, lines: number, badLine?: number, why?: string, checkpoints: number, signed: number,\n' +
    '  dropped?: object, unended?: number, putBack?: unknown, checkpoint?: string }',
  codes: { 1: 'the ledger is not whole, or the file or the state cannot be read' },
  hardened: true,
  async alone(given, output) {
    const { verdictHere, verdictLines } = await import('../../drivers/verdict.ts');
    const verdict = await verdictHere(given);
    return verdict === undefined ? undefined : say(verdict, verdictLines(verdict), output);
  },
  async run(given, output) {
    const { againstOf, verdictHere, verdictLines } = await import('../../drivers/verdict.ts');
    const { E } = await import('@hob/vat');
    const { withHost } = await import('../../daemon/drivers/client.ts');
    const verdict =
      (await verdictHere(given)) ??
      (await withHost(given, async ({ granter }) => {
        const ledger = E(E(granter).ledger());
        const against = againstOf(given);
        return await (against === undefined ? ledger.verify() : ledger.verify(against.slice(-MOST_AGAINST)));
      }));
    return say(verdict, verdictLines(verdict), output);
  },
};

function say(verdict: LedgerVerdict, lines: readonly string[], { line, json }: Output): number {
  for (const text of lines) line(text);
  json(verdict);
  return verdict.ok ? 0 : 1;
}
