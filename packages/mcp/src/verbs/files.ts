/** The verbs for directories: `read`, `write`, `edit`, `list`, `search`. */
import { CapError } from '@hob/vat/peer';
import type { Answer } from '../text/answer.ts';
import { base64 } from '../text/json.ts';
import type { Arguments } from './arguments.ts';
import { CAP, type Call, COUNT, given, TEXT, type Verb } from './verb.ts';

const PATH = { type: 'string', description: 'relative to the cap' } as const;

/** The most bytes of a picture, and of one answer with other bytes. */
const PICTURE = 1 << 20;
const BYTES = 6000;

export const read: Verb = {
  name: 'read',
  about: 'Reads a text (`line` from 1, and `lines`, choose a part), a picture, or bytes from `offset` on as base64.',
  args: { cap: CAP, path: PATH, line: COUNT, lines: COUNT, offset: { type: 'integer', minimum: 0 } },
  required: ['cap', 'path'],
  result: { text: TEXT, base64: TEXT, next: { type: 'integer' } },
  readOnly: true,
  async run(call) {
    const { args, send } = call;
    if (args.has('offset')) return await bytesFrom(call, args.count('offset') as number);
    const window = given({ line: args.count('line'), lines: args.count('lines') });
    try {
      const text = (await send(args.text('cap'), 'readText', args.text('path'), window)) as string;
      return { text, data: { text } };
    } catch (error) {
      // It is no text. Whether there are bytes to read is decided by the cap.
      if ((error as CapError).code !== 'UNSUPPORTED') throw error;
      return await bytesFrom(call, 0);
    }
  },
};

async function bytesFrom({ args, send }: Call, offset: number): Promise<Answer> {
  const [cap, path] = [args.text('cap'), args.text('path')];
  const length = offset === 0 ? PICTURE + 1 : BYTES + 1;
  const bytes = (await send(cap, 'read', path, { offset, length })) as Uint8Array;
  const mimeType = offset === 0 && bytes.length <= PICTURE ? pictureType(bytes) : undefined;
  if (mimeType !== undefined) {
    const data = base64(bytes);
    return { text: `${mimeType}, ${bytes.length} bytes`, data: { mimeType, base64: data }, image: { mimeType, data } };
  }
  const text = base64(bytes.subarray(0, BYTES));
  const next = bytes.length > BYTES ? offset + BYTES : undefined;
  const more = next === undefined ? 'to the end' : `the next are at offset ${next}`;
  return { text, data: { base64: text, ...given({ next }) }, note: `base64 of bytes from ${offset} on, ${more}` };
}

const MAGIC: readonly (readonly [type: string, at: number, bytes: readonly number[]])[] = [
  ['image/png', 0, [0x89, 0x50, 0x4e, 0x47]],
  ['image/jpeg', 0, [0xff, 0xd8, 0xff]],
  ['image/gif', 0, [0x47, 0x49, 0x46, 0x38]],
  ['image/webp', 8, [0x57, 0x45, 0x42, 0x50]],
];

const pictureType = (bytes: Uint8Array): string | undefined =>
  MAGIC.find(([, at, magic]) => magic.every((byte, n) => bytes[at + n] === byte))?.[0];

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
    const page = given({ after: args.maybe('after'), limit: PAGE_OF_ENTRIES });
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
    const options = given({ path: args.maybe('path'), glob: args.maybe('glob'), limit: MOST_HITS });
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
