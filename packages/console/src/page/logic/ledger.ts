/** Rows of the ledger, the filter of a person over them, and the story of which a row is a part. */

export interface LedgerRow {
  readonly seq: number;
  readonly kind: string;
  readonly at: number | undefined;
  readonly session: string | undefined;
  readonly grant: string | undefined;
  readonly request: string | undefined;
  /** The line, as it was signed. */
  readonly text: string;
}

const word = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** Reads one line. A line that is no JSON is a row of its own kind, so that nothing is hidden. */
export function rowOf(text: string): LedgerRow {
  const { seq, k, t, session, grant, request } = fieldsOf(text);
  return {
    seq: Number(seq),
    kind: word(k) ?? '?',
    at: typeof t === 'number' ? t : undefined,
    session: word(session),
    grant: word(grant),
    request: word(request),
    text,
  };
}

/** The fields of a line, as they were written. */
export function fieldsOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** Whether a row has all words of the filter somewhere in its line. */
export function matches(row: LedgerRow, filter: string): boolean {
  const text = row.text.toLowerCase();
  return filter
    .toLowerCase()
    .split(/\s+/)
    .every((each) => text.includes(each));
}

export const OUTCOMES = ['any', 'allowed', 'refused', 'failed', 'ended'] as const;
export type Outcome = (typeof OUTCOMES)[number];

const ENDS: ReadonlySet<string> = new Set(['revoke', 'expire', 'withdraw', 'cancel', 'narrow']);

/** The outcome of a row. Undefined for lines without one. */
export function outcomeOf({ kind, text }: LedgerRow): Exclude<Outcome, 'any'> | undefined {
  if (kind === 'deny' || kind === 'refuse') return 'refused';
  if (kind === 'result') return fieldsOf(text)['code'] === undefined ? 'allowed' : 'failed';
  if (kind === 'grant' || kind === 'approve' || kind === 'call') return 'allowed';
  return ENDS.has(kind) ? 'ended' : undefined;
}

/** The filters of a person. An empty text and `any` leave everything in. */
export interface Filter {
  readonly words: string;
  /** A short id such as G3, or the id itself. */
  readonly grant: string;
  /** A petname, or the name of what was offered. */
  readonly cap: string;
  /** A name of a host of the network, as lines have it. */
  readonly host: string;
  readonly outcome: Outcome;
  /** ms since 1970. */
  readonly from: number | undefined;
  readonly to: number | undefined;
}

export const EVERYTHING: Filter = {
  words: '',
  grant: '',
  cap: '',
  host: '',
  outcome: 'any',
  from: undefined,
  to: undefined,
};

/** The rows that pass the filter. Calls are found by the petname of their grant, which only its own line has. */
export function filtered(
  rows: readonly LedgerRow[],
  filter: Filter,
  short: (id: string) => string,
): readonly LedgerRow[] {
  const words = filter.words.trim();
  const grant = filter.grant.trim().toLowerCase();
  const cap = filter.cap.trim().toLowerCase();
  const host = filter.host.trim().toLowerCase();
  const ofCap = cap === '' ? undefined : aboutCap(rows, cap);
  return rows.filter(
    (row) =>
      (words === '' || matches(row, words)) &&
      (grant === '' || (row.grant !== undefined && [row.grant, short(row.grant).toLowerCase()].includes(grant))) &&
      (ofCap === undefined ||
        (row.grant !== undefined && ofCap.has(row.grant)) ||
        (row.request !== undefined && ofCap.has(row.request))) && // biome-ignore format: one line
      (host === '' || hostsIn(row.text).some((name) => name === host || name.endsWith(`.${host}`))) &&
      (filter.outcome === 'any' || outcomeOf(row) === filter.outcome) &&
      (filter.from === undefined || (row.at ?? 0) >= filter.from) &&
      (filter.to === undefined || (row.at ?? 0) <= filter.to),
  );
}

/** The grants and requests of a cap, by its petname or by what was offered. */
function aboutCap(rows: readonly LedgerRow[], cap: string): ReadonlySet<string> {
  const found = new Set<string>();
  for (const { text, grant, request } of rows) {
    const { petname, offered, asks } = fieldsOf(text);
    if (![petname, offered, asks].some((name) => word(name)?.toLowerCase() === cap)) continue;
    for (const id of [grant, request]) if (id !== undefined) found.add(id);
  }
  return found;
}

/** Names of hosts in the values of a line: whole values that are a host, with a port or without, or an address of the web. */
function hostsIn(text: string): readonly string[] {
  const found: string[] = [];
  JSON.stringify(fieldsOf(text), (_key, value: unknown) => {
    const [, host] =
      (typeof value === 'string' && /^(?:[a-z][a-z0-9+.-]*:\/\/)?((?:[\p{L}\p{N}-]+\.)*[\p{L}\p{N}-]+)(?::\d+)?(?:\/.*)?$/iu.exec(value)) || []; // biome-ignore format: one line
    if (host !== undefined) found.push(host.toLowerCase());
    return value;
  });
  return found;
}

/** The steps from what was asked to what was done. */
interface Story {
  readonly request: readonly LedgerRow[];
  readonly act: readonly LedgerRow[];
  readonly grant: readonly LedgerRow[];
  readonly effect: readonly LedgerRow[];
}

const ACTS: ReadonlySet<string> = new Set(['approve', 'deny', 'withdraw', 'confirm']);
const GRANTS: ReadonlySet<string> = new Set([
  'grant',
  'narrow',
  'renew',
  'revoke',
  'expire',
  'sturdyref',
  'give-back',
  'made',
]);

/** The lines about the same request and the same grant, by their steps, in their order. */
export function storyOf(row: LedgerRow, lines: readonly LedgerRow[]): Story {
  const requests = new Set<string>();
  const grants = new Set<string>();
  const note = ({ request, grant }: LedgerRow): void => {
    if (request !== undefined) requests.add(request);
    if (grant !== undefined) grants.add(grant);
  };
  note(row);
  // The line of a grant names its request, and the line of an approval names its grant.
  for (const line of lines) if (line.grant !== undefined && grants.has(line.grant) && line.kind === 'grant') note(line);
  for (const line of lines) if (line.request !== undefined && requests.has(line.request)) note(line);
  const about = lines.filter(
    ({ request, grant }) =>
      (request !== undefined && requests.has(request)) || (grant !== undefined && grants.has(grant)),
  );
  const step = (is: (kind: string) => boolean): readonly LedgerRow[] => about.filter(({ kind }) => is(kind));
  return {
    request: step((kind) => kind === 'request'),
    act: step((kind) => ACTS.has(kind)),
    grant: step((kind) => GRANTS.has(kind)),
    effect: step((kind) => kind !== 'request' && !ACTS.has(kind) && !GRANTS.has(kind)),
  };
}

/** A request that was refused, and asked for a grant. */
export interface Refused {
  readonly request: string;
  readonly session: string;
  readonly asks: string;
  readonly at: number | undefined;
  readonly why: string;
}

/** The latest refusals, the newest first. Calls of gated grants are left out: their caller was told, and calls again. */
export function refusedOf(rows: readonly LedgerRow[], most = 20): readonly Refused[] {
  const asked = new Map(rows.flatMap((row) => (row.kind === 'request' && row.request !== undefined ? [[row.request, row]] : []))); // biome-ignore format: one line
  return rows
    .filter(({ kind }) => kind === 'deny')
    .reverse()
    .flatMap((row) => {
      const { asks, session, method } = fieldsOf(asked.get(row.request ?? '')?.text ?? '');
      const request = row.request;
      if (request === undefined || method !== undefined) return [];
      if (typeof asks !== 'string' || typeof session !== 'string') return [];
      return [{ request, session, asks, at: row.at, why: word(fieldsOf(row.text)['why']) ?? '' }];
    })
    .slice(0, most);
}

/** The time of the last call of each grant. */
export function lastUses(rows: readonly LedgerRow[]): ReadonlyMap<string, number> {
  return new Map(rows.flatMap(({ kind, grant, at }) => (kind === 'call' && grant !== undefined && at !== undefined ? [[grant, at]] : []))); // biome-ignore format: one line
}

/** A name that was never bound in the session, because no name is bound twice: “notes”, “notes-2”, “notes-3”. */
export function freeName(asks: string, session: string, lines: readonly LedgerRow[]): string {
  const used = new Set(
    lines.flatMap((line) => {
      const { petname } = line.kind === 'grant' && line.session === session ? fieldsOf(line.text) : {};
      return typeof petname === 'string' ? [petname] : [];
    }),
  );
  for (let n = 1; ; n += 1) {
    const name = n === 1 ? asks : `${asks.slice(0, 50)}-${n}`;
    if (!used.has(name)) return name;
  }
}

/** The petname and the session of each grant, by its id: also of one that was used up before a page saw it live. */
export function petnamesIn(
  lines: readonly LedgerRow[],
): ReadonlyMap<string, { readonly petname: string; readonly session: string | undefined }> {
  return new Map(
    lines.flatMap(({ kind, grant, session, text }) => {
      const { petname } = kind === 'grant' ? fieldsOf(text) : {};
      return grant === undefined || typeof petname !== 'string' ? [] : [[grant, { petname, session }] as const];
    }),
  );
}
