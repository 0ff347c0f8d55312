/**
 * What is different in a request that replaces another one: old -> new.
 *
 * Promise: whatever a card shows of what is asked, and is not the same in both requests, is a change here. A person who read
 * the old card reads these lines, and has read the new one.
 */
import type { Request } from '@hob/host';

/** `before` is undefined where something came, and `after` where something went. */
export interface Change {
  readonly what: string;
  readonly before?: string;
  readonly after?: string;
}

type Asked = Pick<Request, 'kind' | 'session' | 'asker' | 'asks' | 'why' | 'effect' | 'table' | 'permits' | 'flags'> &
  Pick<Request, 'diff' | 'terms' | 'draft' | 'personOnly'>;

/** The changes in the order in which a card shows its parts. */
export function changesOf(before: Asked, after: Asked): readonly Change[] {
  const one = (what: string, old: string, now: string): readonly Change[] =>
    old === now ? [] : [{ what, before: old, after: now }];
  return [
    ...one('kind', before.kind, after.kind),
    ...one('what it would do', before.effect, after.effect),
    ...one('asked by', before.asker.join(' › '), after.asker.join(' › ')),
    ...one('session', before.session, after.session),
    ...one('asked for', before.asks, after.asks),
    ...one('terms', JSON.stringify(before.terms ?? {}), JSON.stringify(after.terms ?? {})),
    ...one('a draft', String(before.draft ?? false), String(after.draft ?? false)),
    ...one('for a person alone', String(before.personOnly ?? false), String(after.personOnly ?? false)),
    ...named(before.table, after.table),
    ...linesChanged('warning', before.flags, after.flags),
    ...linesChanged('line of the change', lines(before.diff), lines(after.diff)),
    ...linesChanged('also permits', before.permits, after.permits),
    ...one('reason', before.why, after.why),
  ];
}

const lines = (text: string | undefined): readonly string[] => (text === undefined ? [] : text.split('\n'));

type Rows = Request['table'];

/** Rows of the same name stand for one another in their order: a table may have a name twice. */
function named(before: Rows, after: Rows): readonly Change[] {
  const names = [...new Set([...before, ...after].map(([name]) => name))];
  return names.flatMap((name) => {
    const values = (rows: Rows): readonly string[] => rows.filter(([each]) => each === name).map(([, value]) => value);
    const [old, now] = [values(before), values(after)];
    return Array.from({ length: Math.max(old.length, now.length) }, (_, at) => change(name, old[at], now[at])).filter(
      (each) => each.before !== each.after,
    );
  });
}

const change = (what: string, before: string | undefined, after: string | undefined): Change => ({
  what,
  ...(before === undefined ? {} : { before }),
  ...(after === undefined ? {} : { after }),
});

/** The lines that went, and those that came, by the longest sequence that both have. A host sends 301 lines at the most. */
function linesChanged(what: string, before: readonly string[], after: readonly string[]): readonly Change[] {
  const wide = after.length + 1;
  /** `common[i * wide + j]`: how many lines the rests from `i` and from `j` share. */
  const common = new Uint16Array((before.length + 1) * wide);
  const at = (i: number, j: number): number => common[i * wide + j] ?? 0;
  for (let i = before.length - 1; i >= 0; i -= 1)
    for (let j = after.length - 1; j >= 0; j -= 1)
      common[i * wide + j] = before[i] === after[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  const found: Change[] = [];
  for (let i = 0, j = 0; i < before.length || j < after.length; )
    if (i < before.length && j < after.length && before[i] === after[j]) {
      i += 1;
      j += 1;
    } else if (j >= after.length || (i < before.length && at(i + 1, j) >= at(i, j + 1))) {
      found.push(change(what, before[i], undefined));
      i += 1;
    } else {
      found.push(change(what, undefined, after[j]));
      j += 1;
    }
  return found;
}
