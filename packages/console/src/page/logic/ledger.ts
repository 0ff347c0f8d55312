/** Rows of the ledger, and the filter of a person over them. */

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
  try {
    const { seq, k, t, session, grant, request } = JSON.parse(text) as Record<string, unknown>;
    return {
      seq: Number(seq),
      kind: word(k) ?? '?',
      at: typeof t === 'number' ? t : undefined,
      session: word(session),
      grant: word(grant),
      request: word(request),
      text,
    };
  } catch {
    return {
      seq: Number.NaN,
      kind: '?',
      at: undefined,
      session: undefined,
      grant: undefined,
      request: undefined,
      text,
    };
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
