/**
 * Rows that somebody else wrote: a list in JSON, or one record in each line.
 *
 *     {"id": "mine/1", "steps": ["rm -rf /tmp/x"], "family": "mine", "kind": "destructive", "needs": ["rm"]}
 *
 * `steps` may be one text, or be called `command`. A row without a kind is `generated`: nothing is claimed about it.
 */
import type { Row } from './row.ts';

const KINDS: readonly string[] = ['destructive', 'reads', 'benign', 'pattern', 'generated'] satisfies Row['kind'][];
const KEYS: readonly string[] = ['id', 'family', 'kind', 'steps', 'command', 'needs'];

/** A mistake in a file of rows, in one line for a person. */
export class RowMistake extends Error {}

/** Returns the rows of a text. Throws `RowMistake`. */
export function foreignRows(text: string): readonly Row[] {
  const rows = recordsOf(text).map(({ value, at }, n) => rowOf(value, at, n));
  if (rows.length === 0) throw new RowMistake('there is no row in it');
  const ids = new Set<string>();
  for (const { id } of rows) {
    if (ids.has(id)) throw new RowMistake(`two rows are called ${JSON.stringify(id)}: give each an id of its own`);
    ids.add(id);
  }
  return rows;
}

interface Place {
  readonly value: unknown;
  /** For a person. */
  readonly at: string;
}

function recordsOf(text: string): readonly Place[] {
  if (text.trimStart().startsWith('[')) {
    const list = parsed(text, 'the list');
    return (list as readonly unknown[]).map((value, n) => ({ value, at: `row ${n + 1}` }));
  }
  return text.split('\n').flatMap((line, n) => {
    const at = `line ${n + 1}`;
    return line.trim() === '' ? [] : [{ value: parsed(line, at), at }];
  });
}

function parsed(text: string, at: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new RowMistake(`${at} is no JSON: write a list of records, or a record in each line`);
  }
}

function rowOf(value: unknown, at: string, n: number): Row {
  const wrong = (what: string): never => {
    throw new RowMistake(`${at}: ${what}`);
  };
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return wrong('a row is a record such as {"command": "ls"}'); // biome-ignore format: one line
  const given = value as Readonly<Record<string, unknown>>;
  const unknown = Object.keys(given).find((key) => !KEYS.includes(key));
  if (unknown !== undefined) wrong(`a row has no ${JSON.stringify(unknown)}: it has ${KEYS.join(', ')}`);
  const { family = 'foreign', kind = 'generated', needs = [] } = given;
  const { id = `${String(family)}/${n}` } = given;
  if (typeof id !== 'string' || id === '' || typeof family !== 'string' || family === '')
    wrong('id and family are texts');
  if (!KINDS.includes(kind as string)) wrong(`kind is one of ${KINDS.join(', ')}`);
  const steps = given['steps'] ?? given['command'];
  const list = typeof steps === 'string' ? [steps] : steps;
  if (!isTexts(list) || list.length === 0) return wrong('steps is a command, or a list of commands, as texts');
  if (!isTexts(needs)) return wrong('needs is a list of names of programs');
  return { id: id as string, family: family as string, kind: kind as Row['kind'], steps: list, needs };
}

const isTexts = (list: unknown): list is readonly string[] =>
  Array.isArray(list) && list.every((text) => typeof text === 'string' && text !== '');
