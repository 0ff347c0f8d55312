/**
 * The shape of `hob.yaml`: one schema is the TypeScript type, the check at run time and the published JSON Schema.
 *
 * It checks shapes. `compile` checks rules about two places: a cap that names a root, an example that
 * must run. Each message has two lines: what is wrong, and what to write.
 */
import * as z from 'zod';
import { a2a } from './a2a.ts';
import { described } from './about.ts';
import { chat } from './chats.ts';

import { addresses, channel, http, isAddress, isModelUrl, message } from './net.ts';
import { forward, host, programNet, sign, unix } from './program-net.ts';
import { agent, schedule } from './schedule.ts';
import {
  duration,
  FLAG_SET,
  kinds,
  list,
  MOST_NAMES,
  name,
  named,
  oneOf,
  own,
  record,
  say,
  terms,
  text,
} from './shapes.ts';
import { milliseconds } from './terms.ts';
import type { ArgumentBound, Manifest } from './types.ts';

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
  own,
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
  net: programNet.optional(),
  match: list('match', examples, '["git log -5"]', 200).optional(),
  not_match: list('not_match', examples, '["git push"]', 200).optional(),
  ...terms,
});
const shell = record('a shell cap', {
  shell: oneOf('shell', ['sandbox']),
  cwd: text('cwd', 'project').optional(),
  mounts: list('mounts', name('a mount'), '[src]'),
  net: programNet.optional(),
  ...terms,
});
const scalar = z.union([z.string().max(4096), z.number(), z.boolean(), z.null()]);
const MOST_FIELDS = 64;
/** At least one hole. The host looks at the rest when the grant is made. */
const template = text('like', 'Dinner at {restaurant}')
  .max(1000)
  .regex(/\{[A-Za-z_][A-Za-z0-9_]{0,63}(:.+)?\}/s, say('like has no hole', 'write like: "Dinner at {restaurant}"'));
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
      record('a bound', { like: template }),
      record('a bound', { optional: argument }),
      record('a bound', { fields: bounds }),
      record('a bound', { any: z.literal(true) }),
    ],
    {
      error: say(
        'this is no bound of an argument',
        'write a value, {oneOf: [a, b]}, {min: 1, max: 5}, {beneath: project/src}, {like: "Dinner at {place}"}, {fields: {name: bound}}, {optional: bound} or {any: true}',
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
const oneKind = (given: unknown): string => {
  const has = kinds.filter((kind) => typeof given === 'object' && given !== null && Object.hasOwn(given, kind));
  if (has.length > 1) return say(`a cap has one kind, and this has ${has.join(' and ')}`, 'make a cap of each');
  return say('this cap has no kind', `write one of ${kinds.join(', ')}`);
};
const offer = record('an offer', { uses: terms.uses, for: terms.for, until: terms.until }).optional();

/** A cap that is minted when the session starts. The order is that of `kinds`: `parse` counts on it. */
const cap = z.union([fs, command, shell, http, mcp, message, host, unix, forward, sign, schedule], {
  error: (issue) => oneKind(issue.input),
});
/** A cap that a person is asked for. `offer` is what the question proposes. */
const ask = z.union(
  [
    fs.extend({ offer }),
    command.extend({ offer }),
    shell.extend({ offer }),
    http.extend({ offer }),
    mcp.extend({ offer }),
    message.extend({ offer }),
    host.extend({ offer }),
    unix.extend({ offer }),
    forward.extend({ offer }),
    sign.extend({ offer }),
    schedule.extend({ offer }),
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
const toolEffect = record('an effect', {
  class: oneOf('class', ['A', 'B', 'C', 'D']),
  undo: oneOf('undo', ['easy', 'hard', 'impossible']).optional(),
  outbound: z.boolean({ error: say('outbound is true or false', 'write false') }).optional(),
});
const effects = z
  .record(text('a tool', 'get_issue').max(128), toolEffect, {
    error: say('effects is a record of tools', 'write get_issue: { class: A, outbound: false }'),
  })
  .optional();
const server = z.union(
  [
    record('a server', {
      command: list('command', text('a word', 'npx'), '[node, server.js]'),
      roots: list('roots', name('a root'), '[project]').optional(),
      writes: list('writes', name('a root'), '[project]').optional(),
      secrets: list('secrets', name('a secret'), '[LINEAR_KEY]').optional(),
      effects,
    }),
    record('a server', {
      url: text('url', 'https://mcp.example.org/').refine(isAddress, {
        error: say('url is not an address', 'write for example https://mcp.example.org/mcp, without a user'),
      }),
      secret: name('secret').optional(),
      addresses: addresses.optional(),
      effects,
    }),
  ],
  { error: say('a server has command or url', 'write {command: [node, server.js]} or {url: https://…}') },
);

const calls = z
  .number()
  .int()
  .min(1)
  .max(1000, { error: say('this is no number of calls', 'write a whole number from 1 to 1000') });
const guardrail = z.union(
  [
    z.literal('off'),
    record('a guardrail', { warn: calls, stop: calls }).refine(({ warn, stop }) => warn <= stop, {
      error: say('warn is more than stop', 'write {warn: 2, stop: 5}'),
    }),
  ],
  { error: say('a guardrail is off or two numbers', 'write off, or {warn: 2, stop: 5} from 1 to 1000') },
);

const hook = record('a hook', {
  program: text('program', '~/hooks/check.py'),
  sha256: text('sha256', '64 digits').regex(/^[0-9a-f]{64}$/, {
    error: say('sha256 is not 64 digits of 0-9a-f', 'write what sha256sum FILE prints'),
  }),
  on: oneOf('on', ['pre_call', 'post_call', 'pre_tool_call', 'PreToolUse']),
  caps: list('caps', name('a cap'), '[src]').optional(),
  methods: list('methods', text('a method', 'write').max(64), '[write]', 100).optional(),
  within: duration
    .refine((given) => milliseconds(given) <= 60_000, { error: say('within is more than 1m', 'write for example 5s') })
    .optional(),
});

const manifest = record('a manifest', {
  version: z.literal(1, { error: say('version is not 1', 'write version: 1 in the first line') }),
  roots: named('roots', root).optional(),
  servers: named('servers', server).optional(),
  channels: named('channels', channel).optional(),
  agents: named('agents', agent).optional(),
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
    api: oneOf('api', ['openai', 'anthropic']).optional(),
    url: text('url', 'https://api.example.com/v1')
      .refine(isModelUrl, {
        error: say('this is no address of a model', 'write https://…, or http:// and this machine'),
      })
      .optional(),
    secret: name('secret').optional(),
    timeout: duration.optional(),
  }).optional(),
  ledger: record('ledger', {
    path: text('path', '~/.local/state/hob').optional(),
    keep: duration.optional(),
    redact: oneOf('redact', ['secrets']).optional(),
  }).optional(),
  firewall: record('firewall', {
    mode: oneOf('mode', ['observe', 'enforce']),
    hooks: named('hooks', hook).optional(),
    review: list('review', name('a cap'), '[src]').optional(),
    guardrails: record('guardrails', {
      exact_failure: guardrail.optional(),
      same_method: guardrail.optional(),
      same_result: guardrail.optional(),
    }).optional(),
  }).optional(),
  a2a: a2a.optional(),
  chats: named('chats', chat).optional(),
});

/** The schema of a whole manifest. */
export const manifestSchema: z.ZodType<Manifest, Manifest> = manifest;

/** The JSON Schema (draft 2020-12) that editors complete from. */
export const jsonSchema = (): object => ({
  title: 'hob.yaml',
  description: 'What the sessions of an agent may hold.',
  ...described(z.toJSONSchema(manifestSchema, { io: 'input', unrepresentable: 'any' })),
});
