/**
 * The shape of `hob.yaml`: one schema is the TypeScript type, the check at run time and the published JSON Schema.
 *
 * It checks shapes. `compile` checks rules about two places: a cap that names a root, an example that
 * must run. Each message has two lines: what is wrong, and what to write.
 */
import * as z from 'zod';
import { nearest, quoted } from '../text/mistakes.ts';
import { described } from './about.ts';
import { DURATION, LONGEST_MS, milliseconds } from './terms.ts';
import type { ArgumentBound, Manifest } from './types.ts';

/** Joins the two lines of a message. */
export const say = (wrong: string, write: string): string => `${wrong}\n${write}`;

const MOST_NAMES = 2000;
const NAME = /^[A-Za-z][A-Za-z0-9_-]{0,62}$/;
const FLAG_SET = /^[A-Za-z][A-Za-z0-9_-]{0,62}(?:\.[A-Za-z][A-Za-z0-9_-]{0,62})?$/;
// Code is not made at run time: the packages also run where that is not allowed.
z.config({ jitless: true });

/** A record with these keys and no others. A key that is not known is answered with the nearest one that is. */
function record<S extends z.core.$ZodLooseShape>(what: string, shape: S): z.ZodObject<S, z.core.$strict> {
  const known = Object.keys(shape);
  return z.strictObject(shape, {
    error: (issue) => {
      if (issue.code !== 'unrecognized_keys') return say(`${what} is a record`, `write one with ${known.join(', ')}`);
      const name = (issue as unknown as { keys: readonly string[] }).keys[0] ?? '';
      if (/ cap\b/.test(what) && kinds.some((kind) => kind === name))
        return say('a cap has one kind, and this has two', 'make a cap of each');
      const meant = nearest(name, known);
      return say(
        `${what} has no ${quoted(name)}`,
        meant === undefined ? `write one of ${known.join(', ')}` : `did you mean ${meant}?`,
      );
    },
  });
}

const text = (what: string, example: string): z.ZodString =>
  z
    .string({ error: say(`${what} is a text`, `write for example ${example}`) })
    .min(1, { error: say(`${what} is empty`, `write for example ${example}`) })
    .max(4096, { error: say(`${what} is longer than 4,096 characters`, 'shorten it') });
const oneOf = <const T extends readonly [string, ...string[]]>(
  what: string,
  values: T,
): z.ZodEnum<{ [K in T[number]]: K }> =>
  z.enum(values, {
    error: say(`${what} is not one of ${values.join(', ')}`, `write ${values[0]}, or another of them`),
  });
const name = (what: string): z.ZodString =>
  text(what, 'docs').regex(NAME, {
    error: say(`${what} is not a name`, 'write letters, digits, _ and -, beginning with a letter, at most 63'),
  });
const named = <V extends z.ZodType>(what: string, value: V): z.ZodRecord<z.ZodString, V> =>
  z
    .record(name(what), value, {
      error: (issue) =>
        issue.code === 'invalid_key'
          ? say(
              `a name in ${what} is not a name`,
              'write letters, digits, _ and -, beginning with a letter, at most 63',
            )
          : say(`${what} is a record of names`, 'write name: value'),
    })
    .refine((all) => Object.keys(all).length <= MOST_NAMES, {
      error: say(`${what} has more than ${MOST_NAMES} names`, 'remove some'),
    });
const list = <V extends z.ZodType>(what: string, value: V, example: string, most = MOST_NAMES): z.ZodArray<V> =>
  z
    .array(value, { error: say(`${what} is a list`, `write for example ${example}`) })
    .min(1, { error: say(`${what} is empty`, `write for example ${example}, or leave the key out`) })
    .max(most, { error: say(`${what} has more than ${most} entries`, 'remove some') });

/** A time from now: whole seconds, minutes, hours or days, at most 366 days. */
export const duration: z.ZodString = z
  .string({ error: say('a duration is a text', 'write for example 15m, 8h or 30d') })
  .regex(DURATION, { error: say('this is not a duration', 'write a whole number and s, m, h or d, for example 15m') })
  .refine((given) => milliseconds(given) > 0 && milliseconds(given) <= LONGEST_MS, {
    error: say('the duration is 0 or longer than 366 days', 'write one between 1s and 366d'),
  });
/** Whether a day is in the calendar. `Date.parse` takes 30 February for 2 March. */
function isDate(given: string): boolean {
  const [year = 0, month = 0, day = 0] = given.slice(0, 10).split('-').map(Number);
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const longest = month === 2 ? (isLeap ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31;
  return day <= longest && !Number.isNaN(Date.parse(given));
}
const date: z.ZodString = z
  .string({ error: say('until is a date', 'write for example 2027-01-31 or 2027-01-31T18:00:00Z') })
  .regex(/^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d)?(?:Z|[+-]\d\d:\d\d))?$/, {
    error: say('this is not a date', 'write for example 2027-01-31 or 2027-01-31T18:00:00Z'),
  })
  .refine(isDate, { error: say('there is no such date', 'write for example 2027-01-31') });
const count: z.ZodNumber = z
  .int({ error: say('uses is a whole number', 'write for example uses: 5') })
  .min(1, { error: say('uses is less than 1', 'write at least 1, or remove the cap') })
  .max(1_000_000_000, { error: say('uses is more than 1,000,000,000', 'leave uses out for no limit') });

/** The limits of a grant. All are optional; the strictest of several layers holds. */
const terms = {
  uses: count.optional(),
  for: duration.optional(),
  until: date.optional(),
  needs: oneOf('needs', ['passkey']).optional(),
  always_human: z.boolean({ error: say('always_human is true or false', 'write true') }).optional(),
  level: oneOf('level', ['low', 'medium', 'high']).optional(),
  sensitivity: oneOf('sensitivity', ['scratch', 'ordinary', 'high']).optional(),
} as const;

/** A host by name or number, without user, query or wildcard, and a path that ends in `/`. */
const isPrefix = (given: string): boolean =>
  /^https?:\/\/[A-Za-z0-9.:[\]-]+\/(?:[^\s?#\\*]*\/)?$/.test(given) && URL.canParse(given);

const argvWord = text('a word of argv', 'status|log');
/** A row without words is the program without arguments. */
const argvRow = z
  .array(argvWord, { error: say('a row of argv is a list', 'write for example [status], or [] for no arguments') })
  .max(64, { error: say('a row of argv has more than 64 words', 'remove some, or end it with rest') });
const examples = z.union(
  [text('an example', '"git log -5"'), list('an example', text('a word', 'log'), '[git, log]', 100)],
  {
    error: say('an example is a command', 'write "git log -5" or [git, log, -5]'),
  },
);

const fs = record('a directory cap', {
  fs: text('fs', 'project/src'),
  can: list('can', oneOf('can', ['read', 'list', 'search', 'write', 'remove']), '[read, list]'),
  except: list('except', text('a pattern of except', '".env*"'), '[".env*"]', 200).optional(),
  ...terms,
});
const command = record('a command cap', {
  command: text('command', 'git').regex(/^[A-Za-z0-9_][\w.+-]*$|^\/[^\0]*$/, {
    error: say('command is not a program', 'write its name, like git, or its absolute path'),
  }),
  cwd: text('cwd', 'project').optional(),
  reads: z.boolean({ error: say('reads is true or false', 'write true') }).optional(),
  argv: list('argv', argvRow, '[[status], [log, flags(git.read)]]', 500),
  deny: list('deny', list('a row of deny', argvWord, '[push]', 16), '[[push]]', 100).optional(),
  mounts: list('mounts', name('a mount'), '[src]').optional(),
  net: oneOf('net', ['none']).optional(),
  match: list('match', examples, '["git log -5"]', 200).optional(),
  not_match: list('not_match', examples, '["git push"]', 200).optional(),
  ...terms,
});
const shell = record('a shell cap', {
  shell: oneOf('shell', ['sandbox']),
  cwd: text('cwd', 'project').optional(),
  mounts: list('mounts', name('a mount'), '[src]'),
  net: oneOf('net', ['none']).optional(),
  ...terms,
});
const http = record('an http cap', {
  http: text('http', 'https://api.github.com/repos/acme/app/').refine(isPrefix, {
    error: say(
      'http is not an origin with a path that ends in /',
      'write for example https://api.github.com/repos/acme/app/',
    ),
  }),
  methods: list('methods', oneOf('methods', ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']), '[GET]'),
  secret: name('secret').optional(),
  ...terms,
});
const scalar = z.union([z.string().max(4096), z.number(), z.boolean(), z.null()]);
const MOST_FIELDS = 64;
/** A value of an argument: exactly that, or a record that says what it may be. */
const argument: z.ZodType<ArgumentBound, ArgumentBound> = z.lazy(() =>
  z.union(
    [
      scalar,
      record('a bound', { is: z.json() }),
      record('a bound', { oneOf: z.array(z.json()).min(1).max(MOST_NAMES) }),
      record('a bound', { min: z.number().optional(), max: z.number().optional() }).refine(
        ({ min, max }) => (min ?? max) !== undefined && (min ?? max ?? 0) <= (max ?? min ?? 0),
        { error: say('min is more than max, or both are missing', 'write {min: 1, max: 5}') },
      ),
      record('a bound', { beneath: text('beneath', 'project/src') }),
      record('a bound', { fields: bounds }),
      record('a bound', { any: z.literal(true) }),
    ],
    {
      error: say(
        'this is no bound of an argument',
        'write a value, {oneOf: [a, b]}, {min: 1, max: 5}, {beneath: project/src}, {fields: {name: bound}} or {any: true}',
      ),
    },
  ),
);
const bounds = z
  .record(z.string().min(1).max(256), argument, {
    error: say('where is a record of bounds', 'write where: {owner: acme}'),
  })
  .refine((all) => Object.keys(all).length > 0 && Object.keys(all).length <= MOST_FIELDS, {
    error: say(`where has no arguments, or more than ${MOST_FIELDS}`, 'write where: {owner: acme}'),
  });
const mcp = record('a cap of an MCP server', {
  mcp: name('mcp'),
  tools: list('tools', text('a tool', 'get_issue').max(128), '[get_issue]', 100),
  where: bounds.optional(),
  ...terms,
});
const message = record('a message cap', {
  message: text('message', '"slack:#eng"').regex(/^[a-z][a-z0-9-]*:\S(?:.*\S)?$/, {
    error: say('message is not CHANNEL:RECIPIENT', 'write for example "slack:#eng" or mail:ann@example.org'),
  }),
  ...terms,
});

const KINDS: Readonly<Record<Kind, z.ZodType>> = { fs, command, shell, http, mcp, message };
/** The kinds of caps: a cap has exactly one of these keys. */
export const kinds: readonly Kind[] = Object.keys(KINDS) as Kind[];
/** The key that says what a cap is. */
export type Kind = 'fs' | 'command' | 'shell' | 'http' | 'mcp' | 'message';

const oneKind = (given: unknown): string => {
  const has = kinds.filter((kind) => typeof given === 'object' && given !== null && Object.hasOwn(given, kind));
  if (has.length > 1) return say(`a cap has one kind, and this has ${has.join(' and ')}`, 'make a cap of each');
  return say('this cap has no kind', `write one of ${kinds.join(', ')}`);
};
const offer = record('an offer', { uses: terms.uses, for: terms.for, until: terms.until }).optional();

/** A cap that is minted when the session starts. */
const cap = z.union([fs, command, shell, http, mcp, message], { error: (issue) => oneKind(issue.input) });
/** A cap that a person is asked for. `offer` is what the question proposes. */
const ask = z.union(
  [
    fs.extend({ offer }),
    command.extend({ offer }),
    shell.extend({ offer }),
    http.extend({ offer }),
    mcp.extend({ offer }),
    message.extend({ offer }),
  ],
  { error: (issue) => oneKind(issue.input) },
);

const root = z.union(
  [
    text('a root', '"."'),
    record('a root', { temp: z.literal(true, { error: say('temp is not true', 'write temp: true') }) }),
  ],
  {
    error: say('a root is a folder or {temp: true}', 'write for example "." or /srv/data'),
  },
);
const server = z.union(
  [
    record('a server', {
      command: list('command', text('a word', 'npx'), '[node, server.js]'),
      roots: list('roots', name('a root'), '[project]').optional(),
      writes: list('writes', name('a root'), '[project]').optional(),
      secrets: list('secrets', name('a secret'), '[LINEAR_KEY]').optional(),
    }),
    record('a server', { url: text('url', 'https://mcp.example.org/'), secret: name('secret').optional() }),
  ],
  { error: say('a server has command or url', 'write {command: [node, server.js]} or {url: https://…}') },
);

const manifest = record('a manifest', {
  version: z.literal(1, { error: say('version is not 1', 'write version: 1 in the first line') }),
  roots: named('roots', root).optional(),
  servers: named('servers', server).optional(),
  flags: z
    .record(
      z
        .string()
        .regex(FLAG_SET, { error: say('this is not the name of a flag set', 'write for example mine or git.mine') }),
      list('a flag set', text('a flag', '--stat'), '[--stat, "-{n}"]', 500),
      {
        error: (issue) =>
          issue.code === 'invalid_key'
            ? say('this is not the name of a flag set', 'write for example mine or git.mine')
            : say('flags is a record of lists', 'write name: [--stat]'),
      },
    )
    .optional(),
  session: record('session', {
    deadline: duration.optional(),
    mode: oneOf('mode', ['plan', 'supervised', 'cautious', 'autonomous']).optional(),
    caps: named('caps', cap).optional(),
    ask: named('ask', ask).optional(),
    deny: list('deny', name('deny'), '[push]').optional(),
  }).optional(),
  children: named('children', record('a child', { give: list('give', text('give', 'docs'), '[docs]') })).optional(),
  granters: list('granters', name('a granter'), '[owner]').optional(),
  judge: record('judge', {
    may: list('may', oneOf('may', ['propose', 'refuse']), '[propose, refuse]'),
    model: text('model', 'small').optional(),
  }).optional(),
  ledger: record('ledger', {
    path: text('path', '~/.local/state/hob').optional(),
    keep: duration.optional(),
    redact: oneOf('redact', ['secrets']).optional(),
  }).optional(),
  firewall: record('firewall', {
    mode: oneOf('mode', ['observe', 'enforce']),
  }).optional(),
});

/** The schema of a whole manifest. */
export const manifestSchema: z.ZodType<Manifest, Manifest> = manifest;

/** The JSON Schema (draft 2020-12) that editors complete from. */
export const jsonSchema = (): object => ({
  title: 'hob.yaml',
  description: 'What the sessions of an agent may hold.',
  ...described(z.toJSONSchema(manifestSchema, { io: 'input', unrepresentable: 'any' })),
});
