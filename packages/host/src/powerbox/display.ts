/**
 * Turns terms and arguments into text for a person, from the real data.
 *
 * Promise: for any data, each text is one line of a limited length without invisible characters
 * (`text/safe-text.ts`). A text that was cut says so.
 */
import type { Bound } from '@hob/revocable';
import { wallTime } from '@hob/vat';
import { canonicalText } from '@hob/vat/forwarder';
import type { OfferInfo } from '../state/records.ts';
import type { GrantTerms } from '../state/terms.ts';
import { escaped, flagsOf, quoted, safeText } from '../text/safe-text.ts';

/**
 * The name of a method or a field. It is put between quotes if it could be read as more than a name. Otherwise the one
 * name `write, remove` would look like two methods, and the one key `dryRun: true, a` like two fields.
 */
const nameText = (name: string): string => (/^[\w$-]{1,64}$/.test(name) ? name : quoted(name, 64));

const longestValue = 400;
const mostRows = 24;
/** The other rows of terms are never left out: there are 7. */
const mostBounds = mostRows - 7;
/** As long as a template may be: a hole at its end lets as much through as one at its beginning. */
const longestTemplate = 1_000;
const longestArgs = 100_000;

export type Rows = readonly (readonly [name: string, value: string])[];

/**
 * Data as text, like JSON. Text that does not fit is cut, and the cut is marked. A list or record within another one has
 * the room that is left there, so depth adds nothing.
 */
export function valueText(value: unknown, longest: number = longestValue): string {
  if (typeof value === 'string') return quoted(value, longest);
  if (value instanceof Uint8Array) return `${value.length} bytes`;
  if (typeof value === 'bigint') return safeText(`${value}n`, longest).text;
  if (typeof value !== 'object' || value === null)
    return Object.is(value, -0) ? '-0' : safeText(String(value), longest).text;
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  const entries = Object.entries(value);
  let text = open;
  for (const [at, [key, item]] of entries.entries()) {
    if (at > 0) text += ', ';
    if (text.length > longest) return `${text}⟦cut: ${entries.length - at} more⟧${close}`;
    const shown = valueText(item, typeof item === 'object' ? longest - text.length : longest);
    text += Array.isArray(value) ? shown : `${nameText(key)}: ${shown}`;
  }
  return text + close;
}

/** Whether a request keeps these arguments as data too, besides their text. Larger ones would fill a frame. */
export const fitsFrame = (args: readonly unknown[]): boolean => canonicalText(args).length <= longestArgs;

/** The warnings about all texts in a value. */
export function flagsIn(value: unknown): readonly string[] {
  const found = new Set<string>();
  const look = (at: unknown): void => {
    if (found.size > 8) return;
    if (typeof at === 'string') for (const flag of flagsOf(at)) found.add(flag);
    else if (typeof at === 'object' && at !== null && !(at instanceof Uint8Array))
      for (const [key, item] of Object.entries(at)) {
        look(key);
        look(item);
      }
  };
  look(value);
  return [...found];
}

const argumentNames: Readonly<Record<string, readonly string[]>> = {
  append: ['path', 'data'],
  chmod: ['path', 'mode'],
  copy: ['from', 'to', 'options'],
  edit: ['path', 'edits', 'options'],
  entries: ['path', 'page'],
  except: ['patterns'],
  list: ['path'],
  mkdir: ['path', 'options'],
  only: ['operations'],
  openRead: ['path'],
  openWrite: ['path'],
  read: ['path', 'range'],
  readMany: ['paths'],
  readText: ['path', 'window'],
  readlink: ['path'],
  remove: ['path', 'options'],
  rename: ['from', 'to', 'options'],
  setTimes: ['path', 'times'],
  stat: ['path', 'options'],
  subdir: ['path'],
  symlink: ['text', 'path'],
  tree: ['path', 'options'],
  truncate: ['path', 'size'],
  withQuota: ['quota'],
  write: ['path', 'data', 'options'],
  writeAt: ['path', 'offset', 'data'],
};

export function argumentRows(method: string, args: readonly unknown[], directory: boolean): Rows {
  const message = messageRows(method, args);
  if (message !== undefined) return message;
  const request = requestRows(method, args);
  if (request !== undefined) return request;
  const task = taskRows(method, args);
  if (task !== undefined) return task;
  const known = directory && Object.hasOwn(argumentNames, method) ? (argumentNames[method] as readonly string[]) : [];
  const rows = args.slice(0, mostRows).map((arg, at) => [known[at] ?? `argument ${at + 1}`, valueText(arg)] as const);
  return args.length <= mostRows ? rows : [...rows, ['and', `${args.length - mostRows} more arguments`]];
}

const draftFields = 'attachments digest id kind recipient subject text';
/** Longer than other values: a person approves every word of a message. The inbox still fits into a frame. */
const longestMessage = 4_000;
/** Of the files that go with a message, together. They share it evenly. */
const longestFiles = 16_000;

/** The rows of a draft of `@hob/caps-net`: whom it goes to and all of it, as it will arrive. Known by its fields. */
function messageRows(method: string, [draft, ...more]: readonly unknown[]): Rows | undefined {
  if (method !== 'send' || more.length > 0 || typeof draft !== 'object' || draft === null) return undefined;
  if (Object.keys(draft).sort().join(' ') !== draftFields) return undefined;
  const { recipient, kind, subject, text, attachments, digest } = draft as Readonly<Record<string, unknown>>;
  const files = Array.isArray(attachments) ? attachments.slice(0, mostRows) : [attachments];
  return [
    ['to', `${valueText(recipient)}, by ${valueText(kind, 100)}`],
    ['subject', valueText(subject)],
    ['text', valueText(text, longestMessage)],
    ...files.flatMap((file) => attachmentRows(file, Math.min(longestMessage, Math.floor(longestFiles / files.length)))),
    ['digest', valueText(digest, 100)],
  ];
}

/** One row for the file's name, type and size, and one for its text. */
function attachmentRows(file: unknown, longest: number): Rows {
  const { text, ...rest } = (typeof file === 'object' && file !== null ? file : {}) as { readonly text?: unknown };
  if (typeof text !== 'string') return [['attachment', valueText(file)]];
  return [
    ['attachment', valueText(rest)],
    ['its text', valueText(text, longest)],
  ];
}

/** The rows of a schedule: when, and all of the task, which runs when nobody is asked any more. Known by its arguments. */
function taskRows(method: string, [when, task, ...more]: readonly unknown[]): Rows | undefined {
  if ((method !== 'every' && method !== 'at') || more.length > 0) return undefined;
  if (typeof when !== 'string' || typeof task !== 'string') return undefined;
  return [
    [method === 'every' ? 'again and again' : 'once', valueText(when)],
    ['task', valueText(task, longestMessage)],
  ];
}

const requestFields: ReadonlySet<string> = new Set(['method', 'headers', 'body']);

/** The rows of a request of HTTP: all that will be sent. Known by its arguments, and otherwise shown as any call is. */
function requestRows(method: string, [path, options = {}, ...more]: readonly unknown[]): Rows | undefined {
  if (!/^(?:fetch|get)(?:Text)?$/.test(method) || typeof path !== 'string' || more.length > 0) return undefined;
  if (typeof options !== 'object' || options === null || options instanceof Uint8Array) return undefined;
  if (Object.keys(options).some((key) => !requestFields.has(key))) return undefined;
  const { method: verb = 'GET', headers = {}, body } = options as Readonly<Record<string, unknown>>;
  if (typeof headers !== 'object' || headers === null) return undefined;
  const sent = Object.entries(headers);
  return [
    ['sends', `${valueText(verb, 64)} to the path ${valueText(path, longestMessage)}`],
    ...sent.slice(0, mostRows).map(([name, value]) => ['header', `${quoted(name, 100)}: ${valueText(value)}`] as const),
    ...(sent.length > mostRows ? [['and', `${sent.length - mostRows} more headers`] as const] : []),
    ...(body === undefined ? [] : [['body', valueText(body, longestMessage)] as const]),
  ];
}

export const methodText = (method: string): string => (method === '' ? 'the object itself' : nameText(method));

export function timeText(ms: number): string {
  const [n, unit] =
    ms < 120_000
      ? [Math.ceil(ms / 1000), 's']
      : ms < 7_200_000
        ? [Math.ceil(ms / 60_000), 'min']
        : ms < 172_800_000
          ? [Math.ceil(ms / 3_600_000), 'h']
          : [Math.ceil(ms / 86_400_000), 'days'];
  return `${n} ${unit}`;
}

/** How long a grant lasts, at `wall` ms since 1970. */
export function termTime({ uses, for: ms, until, scope }: GrantTerms, wall: number): string {
  if (ms !== undefined) return `within ${timeText(ms)}`;
  if (until !== undefined) return `for ${timeText(Math.max(0, until - wall))}, over restarts of the machine`;
  if (scope === 'permanent') return 'for 90 days, over restarts of the machine';
  return scope !== undefined || uses !== undefined ? 'until the session ends' : `within ${timeText(15 * 60_000)}`;
}

/** One line: how often and how long. `wall` is in ms since 1970, by default the time of the turn. */
export function termText(terms: GrantTerms, wall: number = wallTime()): string {
  const { uses, scope, gated } = terms;
  const often =
    scope === 'once' ? 'once' : uses === undefined ? 'any number of calls' : uses === 1 ? 'once' : `${uses} calls`;
  const asks =
    gated === undefined ? '' : gated === true ? ', each call asked for' : `, asked for each call of ${listText(gated)}`;
  return `${often}, ${termTime(terms, wall)}${asks}`;
}

/** One line: all of the terms, at `wall` ms since 1970. */
export function termLine(terms: GrantTerms, wall: number): string {
  const [, ...rest] = termRows(terms, wall);
  return [termText(terms, wall), ...rest.map(([name, value]) => `${name}: ${value}`)].join('; ');
}

const listText = (list: readonly string[], most = 12): string => {
  const shown = list.slice(0, most).map(nameText).join(', ');
  return list.length <= most ? shown : `${shown} and ${list.length - most} more`;
};

export function termRows(terms: GrantTerms, wall: number = wallTime()): Rows {
  const rows: (readonly [string, string])[] = [['how often, how long', termText(terms, wall)]];
  if (terms.methods !== undefined) rows.push(['methods', listText(terms.methods)]);
  const bounds = Object.entries(terms.where ?? {}).flatMap(([method, args]) =>
    Object.entries(args).map(([at, bound]) => [method, at, bound as Bound] as const),
  );
  for (const [method, at, bound] of bounds.slice(0, mostBounds))
    rows.push([`${methodText(method)}, ${argumentText(at)}`, boundText(bound)]);
  if (bounds.length > mostBounds)
    rows.push(['and', `${bounds.length - mostBounds} more arguments, which are not shown`]);
  if (terms.audited === true) rows.push(['ledger', 'each outcome is a line']);
  if (terms.personOnly === true) rows.push(['answered by', 'a person alone: no judge sees what waits']);
  if (terms.level !== undefined) rows.push(['goes on without a person', `calls of ${terms.level} risk at the most`]);
  if (terms.mount === true) rows.push(['mount', 'it may be mounted in a sandbox']);
  const [own, ...more] = terms.made === undefined ? [] : termRows(terms.made, wall);
  if (own !== undefined) rows.push(['objects that it makes', `${own[1]}, also when this grant is over`]);
  for (const [name, value] of more) rows.push([`objects that it makes: ${name}`, value]);
  return rows;
}

/** An argument is named by its position, from 0, or by its name. */
const argumentText = (at: string): string => (/^\d+$/.test(at) ? `argument ${Number(at) + 1}` : nameText(at));

/** No other fields may be there. */
function fieldsText(fields: Readonly<Record<string, Bound>>): string {
  const all = Object.entries(fields);
  const shown = all.slice(0, 8).map(([key, bound]) => `${nameText(key)} ${boundText(bound)}`);
  const more = all.length > 8 ? `, and ${all.length - 8} more fields` : '';
  return `only the fields ${shown.join('; ')}${more}`;
}

function boundText(bound: Bound): string {
  if ('is' in bound) return `only ${valueText(bound.is, 100)}`;
  if ('oneOf' in bound) return `one of ${valueText(bound.oneOf, 200)}`;
  if ('any' in bound) return 'anything';
  if ('beneath' in bound) return `only a path beneath ${quoted(`/${bound.beneath.join('/')}`, 200)}`;
  if ('like' in bound) return `a text like ${quoted(bound.like, longestTemplate)}`;
  if ('optional' in bound) return `${boundText(bound.optional)}, or left out`;
  if ('fields' in bound) return fieldsText(bound.fields);
  return `from ${bound.min ?? 'any'} to ${bound.max ?? 'any'}`;
}

const methodEffects: Readonly<Record<string, string>> = {
  append: 'adds to the end of files',
  chmod: 'sets permissions of files and directories',
  copy: 'copies files and directories',
  edit: 'changes text in files',
  entries: 'lists, with sizes and times',
  except: 'hands out itself without some names',
  glob: 'finds names',
  list: 'lists names',
  mkdir: 'makes directories',
  only: 'hands out itself with fewer methods',
  openRead: 'reads files as streams',
  openWrite: 'writes files as streams',
  read: 'reads files',
  readMany: 'reads files',
  readOnly: 'hands out itself to read only',
  readText: 'reads files',
  readlink: 'tells where links lead',
  remove: 'removes files and directories',
  rename: 'moves files and directories',
  search: 'finds text in files',
  searchReport: 'finds text in files',
  setTimes: 'sets times of files and directories',
  stat: 'tells size, time and kind',
  subdir: 'hands out directories below it',
  symlink: 'makes links that stay below it',
  toJSON: 'tells that it is a directory',
  toString: 'tells that it is a directory',
  tree: 'lists everything below',
  truncate: 'cuts files, or makes them longer',
  withQuota: 'hands out itself with a quota',
  write: 'writes and replaces files',
  writeAt: 'writes into files where they are',
};

/** All that a grant on these terms would permit, one line each. `offer` is quoted. */
export function permits(
  offer: string,
  { methods, reads, directory, effects }: OfferInfo,
  terms: GrantTerms,
): readonly string[] {
  const allowed = terms.methods ?? (terms.where === undefined ? undefined : Object.keys(terms.where));
  const all =
    methods === undefined
      ? allowed
      : allowed === undefined
        ? methods
        : methods.filter((name) => allowed.includes(name));
  const whole = directory ? [`everything below the directory ${offer}, also what is put there later`] : [];
  if (all === undefined) return [...whole, `every method of ${offer}: which it has cannot be seen from here`];
  const line = (method: string): string => {
    const what =
      directory && Object.hasOwn(methodEffects, method)
        ? methodEffects[method]
        : reads.includes(method) || effects?.[method]?.class === 'A'
          ? effects?.[method]?.outbound === true
            ? 'only looks, and tells the other side what it is called with'
            : 'only looks'
          : 'may change things';
    const waits = terms.gated === true || terms.gated?.includes(method) === true;
    const bounded =
      terms.where !== undefined && Object.hasOwn(terms.where, method) ? ', with the arguments above only' : '';
    return `${methodText(method)}: ${what}${bounded}${waits ? ', each call asked for' : ''}`;
  };
  const shown = all.slice(0, 40).map(line);
  return [...whole, ...shown, ...(all.length > 40 ? [`and ${all.length - 40} methods more`] : [])];
}

const mostDiffLines = 300;
const mostDiffChars = 24_000;
const longestDiffLine = 500;

/** A diff, each of its lines one line. */
export function diffText(diff: string): string {
  const lines = diff.split('\n');
  if (lines.at(-1) === '') lines.pop();
  const shown: string[] = [];
  let chars = 0;
  for (const line of lines) {
    const [mark, rest] = [line.slice(0, 1), line.slice(1)];
    const { text } = safeText(rest, longestDiffLine);
    if (shown.length >= mostDiffLines || chars + text.length > mostDiffChars) break;
    shown.push(`${escaped(mark)}${text}`);
    chars += text.length;
  }
  const left = lines.length - shown.length;
  return left === 0 ? shown.join('\n') : `${shown.join('\n')}\n⟦cut: ${left} more lines⟧`;
}
