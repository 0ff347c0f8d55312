/** The verbs for directories: `read`, `write`, `edit`, `list`, `search`. */
import { CapError } from '@hob/vat';
import type { Arguments } from './arguments.ts';
import { CAP, type Verb } from './verb.ts';

const PATH = { type: 'string', description: 'relative to the cap' } as const;
const COUNT = { type: 'integer', minimum: 1 } as const;
const TEXT = { type: 'string' } as const;

/** A text file, or the bytes of another file. */
export const read: Verb = {
  name: 'read',
  about: 'Reads a file. `line` (from 1) and `lines` choose a part.',
  args: { cap: CAP, path: PATH, line: COUNT, lines: COUNT },
  required: ['cap', 'path'],
  result: { text: TEXT },
  readOnly: true,
  async run({ args, send }) {
    const window = record({ line: args.count('line'), lines: args.count('lines') });
    const text = (await send(args.text('cap'), 'readText', args.text('path'), window)) as string;
    return { text, data: { text } };
  },
};

export const write: Verb = {
  name: 'write',
  about: 'Writes a whole file. `parents` makes missing directories.',
  args: { cap: CAP, path: PATH, text: TEXT, parents: { type: 'boolean' } },
  required: ['cap', 'path', 'text'],
  result: { version: TEXT },
  async run({ args, send }) {
    const parents = args.flag('parents') ? { parents: true } : {};
    const done = await send(args.text('cap'), 'write', args.text('path'), args.text('text'), parents);
    const { version } = done as { readonly version: string };
    return { text: `written, version ${version}`, data: { version } };
  },
};

export const edit: Verb = {
  name: 'edit',
  about: 'Replaces `old`, which stands exactly once in the file, with `new`.',
  args: { cap: CAP, path: PATH, old: TEXT, new: TEXT },
  required: ['cap', 'path', 'old', 'new'],
  result: { diff: TEXT, version: TEXT },
  async run({ args, send }) {
    const change = [{ oldText: args.text('old'), newText: args.text('new') }];
    const done = await send(args.text('cap'), 'edit', args.text('path'), change);
    const { diff, version } = done as { readonly diff: string; readonly version: string };
    return { text: `${diff}\nversion ${version}`, data: { diff, version } };
  },
};

interface Entry {
  readonly name: string;
  readonly kind: string;
  readonly size: number;
}
const PAGE_OF_ENTRIES = 200;

export const list: Verb = {
  name: 'list',
  about: 'Lists a directory, 200 names at a time: `after` is the last name of the page before.',
  args: { cap: CAP, path: PATH, after: TEXT },
  required: ['cap'],
  result: { entries: { type: 'array' }, after: TEXT },
  readOnly: true,
  async run({ args, send }) {
    const page = record({ after: args.maybe('after'), limit: PAGE_OF_ENTRIES });
    const found = await send(args.text('cap'), 'entries', args.maybe('path') ?? '.', page);
    const entries = (found as readonly Entry[]).map(({ name, kind, size }) => ({ name, kind, size }));
    const last = entries.length < PAGE_OF_ENTRIES ? undefined : entries.at(-1)?.name;
    const text = entries.map(({ name, kind, size }) => `${kind} ${size} ${name}`).join('\n');
    const more = last === undefined ? {} : { after: last };
    const note = last === undefined ? {} : { note: `there may be more: list again with after ${JSON.stringify(last)}` };
    return { text: text === '' ? 'no entries' : text, data: { entries, ...more }, ...note };
  },
};

interface Report {
  readonly hits: readonly { readonly path: string; readonly line: number; readonly text: string }[];
  readonly truncated: boolean;
  readonly skipped: readonly { readonly path: string; readonly reason: string }[];
}
const MOST_HITS = 100;

export const search: Verb = {
  name: 'search',
  about: 'Finds lines with a `text`, or with a `pattern` (RE2), in the files below `path` that match `glob`.',
  args: { cap: CAP, text: TEXT, pattern: TEXT, path: PATH, glob: TEXT },
  required: ['cap'],
  result: { hits: { type: 'array' }, truncated: { type: 'boolean' }, skipped: { type: 'array' } },
  readOnly: true,
  async run({ args, send }) {
    const options = record({ path: args.maybe('path'), glob: args.maybe('glob'), limit: MOST_HITS });
    const found = (await send(args.text('cap'), 'searchReport', wanted(args), options)) as Report;
    const hits = found.hits.map(({ path, line, text }) => ({ path, line, text }));
    const skipped = found.skipped.map(({ path, reason }) => `${path} (${reason})`);
    const notes = [
      found.truncated ? `only the first ${MOST_HITS} lines: choose a smaller path, glob or pattern for the others` : '',
      skipped.length === 0 ? '' : `not searched: ${skipped.join(', ')}`,
    ].filter((one) => one !== '');
    const text = hits.map((hit) => `${hit.path}:${hit.line}: ${hit.text}`).join('\n');
    return {
      text: text === '' ? 'no lines' : text,
      data: { hits, truncated: found.truncated, ...(skipped.length === 0 ? {} : { skipped }) },
      ...(notes.length === 0 ? {} : { note: notes.join('\n') }),
    };
  },
};

function wanted(args: Arguments): string | { readonly pattern: string } {
  if (args.has('text') === args.has('pattern'))
    throw new CapError('invalid', 'search takes either "text" or "pattern"');
  return args.has('text') ? args.text('text') : { pattern: args.text('pattern') };
}

/** The fields that were given. */
function record(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
