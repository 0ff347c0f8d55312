/**
 * Which requests ask for the same, so that one answer can settle all of them.
 *
 * Promise: two requests are in one group only if all that their digests cover is equal, apart from ids and times: what is
 * shown, and of a call every argument, as data. The versions of files and the object of the offer are not told to a page: the
 * host compares them for each answer, which carries the digest of its own request. A request of which something was cut,
 * which a person alone may answer, or which replaces another one, stands by itself.
 */
import type { Request, RequestedCall } from '@hob/host';

/** The request as the card of a group shows it: without the id of its session, which the host wrote there once. */
export function withoutIds<T extends Pick<Request, 'kind' | 'session' | 'effect' | 'table'>>(request: T): T {
  const { kind, session, effect, table } = request;
  // Nothing of an agent stands before it.
  if (kind === 'grant')
    return { ...request, effect: effect.replace(`lets session “${session}” use `, () => 'lets each of them use ') };
  const cap = (value: string): string => value.replace(` of session “${session}”`, () => ' of each session');
  return { ...request, table: table.map(([name, value]) => [name, name === 'cap' ? cap(value) : value] as const) };
}

/** A text that is equal for requests that a page shows alike. Undefined if the request stands by itself. */
export function shownText(request: Request): string | undefined {
  const { kind, asks, why, effect, table, diff, permits, flags, terms, draft } = withoutIds(request);
  if (request.personOnly === true || request.needs !== undefined || request.stale !== undefined) return undefined;
  const shown = [effect, ...table.flat(), diff ?? '', ...permits, ...flags, why];
  if (shown.some((text) => text.includes('⟦cut:'))) return undefined;
  return exactText([kind, asks, why, effect, table, diff, permits, flags, terms, draft === true, request.proposals]);
}

/** The same, with the arguments of a call. Undefined if they are too long to be told. */
export function alikeText(request: Request, call: RequestedCall | undefined): string | undefined {
  const shown = shownText(request);
  if (shown === undefined || request.kind === 'grant') return shown;
  if (call?.args === undefined || call.digest !== request.digest) return undefined;
  const args = exactText([call.method, call.args]);
  return args === undefined ? undefined : `${shown} ${args}`;
}

/** The ids that have an equal text with another one. */
export function candidates(texts: ReadonlyMap<string, string | undefined>): readonly string[] {
  const count = new Map<string, number>();
  for (const text of texts.values()) if (text !== undefined) count.set(text, (count.get(text) ?? 0) + 1);
  return [...texts].flatMap(([id, text]) => (text !== undefined && (count.get(text) ?? 0) > 1 ? [id] : []));
}

/** The requests by groups. A group stands where its first request stands. */
export function groupsOf<T extends { readonly request: Request }>(
  shown: readonly T[],
  alike: ReadonlyMap<string, string>,
): readonly (readonly [T, ...T[]])[] {
  const groups = new Map<string, [T, ...T[]]>();
  for (const each of shown) {
    const key = alike.get(each.request.id) ?? `alone ${each.request.id}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [each]);
    else group.push(each);
  }
  return [...groups.values()];
}

/** Data as one text, so that different data has different texts. Undefined if it has something that is no data. */
export function exactText(value: unknown): string | undefined {
  switch (typeof value) {
    case 'string':
      return JSON.stringify(value);
    case 'number':
      return Object.is(value, -0) ? '-0' : String(value);
    case 'bigint':
      return `${value}n`;
    case 'boolean':
    case 'undefined':
      return String(value);
    case 'object':
      break;
    default:
      return undefined;
  }
  if (value === null) return 'null';
  if (value instanceof Uint8Array) return `b[${value.join()}]`;
  const isRecord = [Object.prototype, null].includes(Object.getPrototypeOf(value));
  if (!Array.isArray(value) && !isRecord) return undefined;
  const parts = Array.isArray(value)
    ? value.map((item) => exactText(item))
    : Object.entries(value)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([key, item]) => {
          const text = exactText(item);
          return text === undefined ? undefined : `${JSON.stringify(key)}:${text}`;
        });
  if (parts.includes(undefined)) return undefined;
  return Array.isArray(value) ? `[${parts.join()}]` : `{${parts.join()}}`;
}
