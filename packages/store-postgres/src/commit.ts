/**
 * The one statement of a commit.
 *
 * Promise: it is done completely or not at all. Only the newest opening of the store can do it, and only right after
 * the commit that it follows. The row of the table `store` is the fence: an older opening, or a commit that was done
 * already, does not match that row. All other parts of the statement depend on the match.
 */
import type { Head, LedgerLine, Marks } from '@hob/vat/engine';
import { bytesList, bytesText, numberList, utf8 } from './bytes.ts';
import type { Parameter } from './drivers/connection.ts';

export const COMMIT = `
  WITH own AS (
    UPDATE store SET seq = $4::bigint, hash = $5, mark = $6::text::bytea, commits = $3::bigint, bound = coalesce($7, bound),
      last = $19
    WHERE epoch = $1::bigint AND opening = $18 AND commits = $2::bigint RETURNING 1
  ), lines AS (
    INSERT INTO line SELECT * FROM unnest($8::text::bigint[], $9::text::bytea[]) WHERE EXISTS (SELECT FROM own)
  ), said AS (
    INSERT INTO args SELECT * FROM unnest($10::text::bigint[], $11::text::bytea[], $12::text::bytea[])
    WHERE EXISTS (SELECT FROM own)
  ), forgotten AS (
    DELETE FROM args WHERE (seq = ANY ($13::text::bigint[]) OR seq <= $14::bigint) AND EXISTS (SELECT FROM own)
  ), dropped AS (
    DELETE FROM line WHERE seq BETWEEN 2 AND $14::bigint AND EXISTS (SELECT FROM own)
  ), put AS (
    INSERT INTO cell SELECT * FROM unnest($15::text::bytea[], $16::text::bytea[]) WHERE EXISTS (SELECT FROM own)
    ON CONFLICT (key) DO UPDATE SET value = excluded.value
  ), removed AS (
    DELETE FROM cell WHERE key = ANY ($17::text::bytea[]) AND EXISTS (SELECT FROM own)
  )
  SELECT count(*)::int AS done FROM own`;

export interface Commit {
  readonly epoch: number;
  /** The opening that it belongs to. */
  readonly opening: string;
  /** A random name. If the store holds it, this commit was done, and no other after it. */
  readonly id: string;
  readonly lines: readonly LedgerLine[];
  readonly head: Head;
  readonly cells: ReadonlyMap<string, string | undefined>;
  readonly marks: Marks;
  /** Lines 2 to this one are dropped; 0 if none are. */
  readonly cut: number;
}

/** The last line that the commit of these lines drops; 0 if it drops none. */
export const cutOf = (lines: readonly LedgerLine[]): number =>
  lines.reduce((most, { drops = 0 }) => Math.max(most, drops), 0);

/** The parameters of `COMMIT`. */
export function parametersOf({ epoch, opening, id, lines, head, cells, marks, cut }: Commit): readonly Parameter[] {
  const forgotten = lines.flatMap(({ forgets }) => (forgets === undefined ? [] : [forgets]));
  // A statement sees the tables as they were before it, so it cannot delete rows that it inserts.
  const kept = lines.filter(({ seq }) => seq === 1 || seq > cut);
  const said = lines.flatMap(({ seq, args }) =>
    args === undefined || forgotten.includes(seq) || seq <= cut ? [] : [{ seq, ...args }],
  );
  // Two keys with lone surrogates may have the same bytes. One statement must not write the same row twice.
  const byBytes = new Map([...cells].map(([key, value]) => [Buffer.from(key, 'utf8').toString('latin1'), value]));
  const keyOf = (text: string): Uint8Array => Buffer.from(text, 'latin1');
  const put = [...byBytes].filter((cell): cell is [string, string] => cell[1] !== undefined);
  const removed = [...byBytes].flatMap(([key, value]) => (value === undefined ? [keyOf(key)] : []));
  return [
    ...[epoch, marks.commits - 1, marks.commits],
    ...[head.seq, head.hash, head.mark === undefined ? null : bytesText(head.mark), marks.bound ?? null],
    ...[numberList(kept.map(({ seq }) => seq)), bytesList(kept.map(({ bytes }) => bytes))],
    ...[
      numberList(said.map(({ seq }) => seq)),
      bytesList(said.map(({ salt }) => salt)),
      bytesList(said.map(({ bytes }) => bytes)),
    ],
    ...[numberList(forgotten), cut],
    ...[bytesList(put.map(([key]) => keyOf(key))), bytesList(put.map(([, value]) => utf8(value)))],
    ...[bytesList(removed), opening, id],
  ];
}
