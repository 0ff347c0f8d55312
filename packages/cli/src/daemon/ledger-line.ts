/** Lines of the ledger for a person, and which of them belong to what. */
import { isMeant } from '../line/ids.ts';
import { idText, type Names } from './names.ts';

/** A line, as far as it is looked at here. */
export interface LedgerLine {
  readonly seq: number;
  readonly k: string;
  readonly t?: number;
  readonly [field: string]: unknown;
}

/** Fields that a person needs no more than once, or never. */
const LEFT_OUT = new Set(['v', 'seq', 'k', 't', 'vt', 'prev', 'crc', 'boot']);
const KIND: Readonly<Record<string, 'G' | 'S' | 'R'>> = { grant: 'G', parent: 'G', session: 'S', request: 'R' };

/** One line of text: number, time, kind, and the fields with short ids and the granter's own names. */
export function lineText(line: LedgerLine, dateText: (ms: number) => string, names: Names): string {
  const fields = Object.entries(line)
    .filter(([name, value]) => !LEFT_OUT.has(name) && value !== undefined)
    .map(([name, value]) => `${name}=${fieldText(name, value, names)}`);
  const time = typeof line.t === 'number' ? dateText(line.t) : '';
  return [`E${line.seq}`, time, line.k, ...fields].join('  ');
}

function fieldText(name: string, value: unknown, names: Names): string {
  const kind = KIND[name];
  if (kind !== undefined && typeof value === 'string') return idText(kind, value, names);
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}

/** Whether a line names this grant. `id` may be a short id, also of a grant that has ended. */
export const isOfGrant = ({ grant }: LedgerLine, id: string): boolean =>
  typeof grant === 'string' && isMeant('G', id, grant);
/** Whether a line names this session. `id` may be a short id, also of a session that has ended. */
export const isOfSession = ({ session }: LedgerLine, id: string): boolean =>
  typeof session === 'string' && isMeant('S', id, session);

/**
 * The lines behind one: the grant that authorised it, the request that was approved, and the answer of the person.
 * Undefined if there is no such line.
 */
export function linesBehind(lines: readonly LedgerLine[], seq: number): readonly LedgerLine[] | undefined {
  const asked = lines.find((line) => line.seq === seq);
  if (asked === undefined) return undefined;
  const made = lines.filter(
    (line) => line.k === 'grant' && line['grant'] !== undefined && line['grant'] === asked['grant'],
  );
  const requests = new Set<unknown>(made.map((line) => line['request']));
  const acts = lines.filter(
    ({ k, request }) => (k === 'request' || k === 'approve') && request !== undefined && requests.has(request),
  );
  return [...acts, ...made, asked].filter((line, n, all) => all.indexOf(line) === n);
}
