/** `hob cluster verify`: checks that nobody changed a ledger or put one back. */
import { Mistake } from '../../line/mistake.ts';
import { CLUSTER } from '../../line/options.ts';
import { textOf, type Verb } from '../../line/verb.ts';

/** `hob cluster verify` */
export const clusterVerify: Verb = {
  name: 'cluster verify',
  about: 'checks the ledgers of all tenants, and that each agrees with the merged chain of checkpoints',
  options: [
    CLUSTER,
    {
      flags: '--kept <n:hash>',
      about: 'also checks that the chain still has this checkpoint, which an earlier cluster verify printed',
    },
  ],
  examples: ['hob cluster verify', 'hob cluster verify --kept 12:TJgVk3lqS9…'],
  json:
    '{ ok: boolean, why?: string, entries: number, last?: { n: number, hash: string },\n' +
    '  tenants: { [name]: { ok: boolean, lines: number } | "missing" } }',
  codes: { 1: 'a ledger or the chain is not whole, or the database does not answer' },
  hardened: true,
  async run(given, { line, json }) {
    const { withCluster } = await import('../../cluster/drivers/manage.ts');
    const { verdictLines } = await import('../../cluster/lines.ts');
    const kept = keptOf(textOf(given, 'kept'));
    const verdict = await withCluster(given, (cluster) => cluster.verify(kept === undefined ? {} : { kept }));
    for (const text of verdictLines(verdict)) line(text);
    json(verdict);
    return verdict.ok ? 0 : 1;
  },
};

/** Errors: `Mistake`. */
function keptOf(text: string | undefined): { readonly n: number; readonly hash: string } | undefined {
  if (text === undefined) return undefined;
  const [, n = '', hash = ''] = /^(\d{1,15}):(\S{8,200})$/.exec(text) ?? [];
  if (n === '')
    throw new Mistake('--kept takes the checkpoint that an earlier hob cluster verify printed: 12:TJgVk3lqS9…', 2);
  return { n: Number(n), hash };
}
