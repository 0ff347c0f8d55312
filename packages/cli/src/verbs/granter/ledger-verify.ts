/** `hob ledger verify`: whether nobody changed the ledger. */
import { REACH, SENTINEL, STORE } from '../../line/options.ts';
import { textOf, type Verb } from '../../line/verb.ts';

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
    '  dropped?: object, unended?: number, putBack?: unknown }',
  codes: { 1: 'the ledger is not whole, or the file or the state cannot be read' },
  hardened: true,
  async run(given, { line, json }) {
    const { holderOf, verdictLines } = await import('@hob/host/client');
    const { checkpointsOf, verifyAtRest } = await import('@hob/host/programs');
    const { E, verifyLedger } = await import('@hob/vat');
    const { isHere, withHost } = await import('../../daemon/drivers/client.ts');
    const { restOf } = await import('../../drivers/at-rest.ts');
    const { absolute, stateOf } = await import('../../drivers/places.ts');
    const [file] = given.operands;
    const kept = textOf(given, 'against');
    const against = kept === undefined ? undefined : checkpointsOf(absolute(kept));
    const state = stateOf(given);
    const verify = async (): Promise<Awaited<ReturnType<typeof verifyLedger>>> => {
      if (file !== undefined)
        return await verifyLedger({ file: absolute(file) }, against === undefined ? {} : { against });
      // Also a state on which no host starts, since its ledger is not whole.
      if (isHere(given) && holderOf(state) === 'nobody') return await verifyAtRest(await restOf(given), against);
      return await withHost(given, async ({ granter }) => {
        const ledger = E(E(granter).ledger());
        return await (against === undefined ? ledger.verify() : ledger.verify(against.slice(-MOST_AGAINST)));
      });
    };
    const verdict = await verify();
    for (const text of verdictLines(verdict)) line(text);
    json(verdict);
    return verdict.ok ? 0 : 1;
  },
};
