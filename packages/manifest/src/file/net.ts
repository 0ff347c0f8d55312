/** The shapes of the caps that reach others: an origin of the network, and a recipient of messages. */
import * as z from 'zod';
import { list, name, oneOf, own, type RecordOf, record, say, terms, text } from './shapes.ts';
import type { Auth, Channel, Client, HttpCap, HttpProxy, MessageCap } from './types.ts';

/** A host by name or number, without user, query or wildcard, and a path that ends in `/`. */
const isPrefix = (given: string): boolean =>
  /^https?:\/\/[A-Za-z0-9.:[\]-]+\/(?:[^\s?#\\*]*\/)?$/.test(given) && URL.canParse(given);

/** A URL parser turns `/a/../b/`, `HOST` and `:443` into something else. Then a reader would see another grant. */
const isPlain = (given: string): boolean => !isPrefix(given) || new URL(given).href === given;

const token = (what: string, example: string): z.ZodString =>
  text(what, example)
    .max(128)
    .regex(/^[A-Za-z0-9!#$&'*+.^_`|~-]+$/, { error: say(`${what} is not a name`, `write for example ${example}`) });

/** One of three ways. Without it a secret goes into the header Authorization, as a bearer token. */
const auth: z.ZodType<Auth, Auth> = record('auth', {
  header: token('header', 'x-api-key').optional(),
  basic: text('basic', 'ann')
    .max(256)
    .regex(/^[\x20-\x39\x3b-\x7e]+$/, { error: say('basic is not the name of a user', 'write it in ASCII, without a colon') }) // biome-ignore format: one line
    .optional(),
  query: token('query', 'key')
    .regex(/^[A-Za-z0-9_.-]+$/, { error: say('query is not the name of a parameter', 'write for example key') })
    .optional(),
}).refine((given) => Object.values(given).filter((one) => one !== undefined).length === 1, {
  error: say('auth has one of header, basic and query', 'write for example {header: x-api-key}'),
});

/** Addresses and ranges that are not public. */
export const addresses: z.ZodArray<z.ZodString> = list(
  'addresses',
  text('an address', '127.0.0.1')
    .max(64)
    .regex(/^[0-9a-f.:]+(?:\/\d{1,3})?$/, {
      error: say('this is no address and no range', 'write for example 127.0.0.1 or 10.1.0.0/16'),
    }),
  '["127.0.0.1"]',
  64,
);

/** The address of a server of MCP: any path, and a query. */
export const isAddress = (given: string): boolean =>
  /^https?:\/\/[A-Za-z0-9.:[\]-]+(?:\/[^\s?#\\]*)?(?:\?[^\s#]*)?$/.test(given) && URL.canParse(given);

const NOT_PLAIN = 'is not written as a URL parser writes it';

/** An origin with a path that ends in a slash, as the value of `key`. */
export const prefix = (key: 'http' | 'forward', example: string): z.ZodString =>
  text(key, example)
    .refine(isPrefix, { error: say(`${key} is not an origin with a path that ends in /`, `write for example ${example}`) }) // biome-ignore format: one line
    .refine(isPlain, { error: (issue) => say(`${key} ${NOT_PLAIN}`, `write ${new URL(String(issue.input)).href}`) });

/** The names of a stored certificate and its key. */
export const client: z.ZodType<Client, Client> = record('client', { cert: name('cert'), key: name('key') });

const proxy: z.ZodType<HttpProxy, HttpProxy> = record('proxy', {
  origin: text('origin', 'http://proxy.example:3128').regex(/^http:\/\/[A-Za-z0-9.:[\]-]+$/, {
    error: say('origin is not the address of a proxy', 'write for example http://proxy.example:3128'),
  }),
  secret: name('secret').optional(),
  names: oneOf('names', ['here', 'proxy']).optional(),
});

/** The keys of caps that send requests to an origin, beside the origin. */
export const requests: Pick<
  (typeof http)['shape'],
  'methods' | 'secret' | 'auth' | 'headers' | 'addresses' | 'ca' | 'client' | 'proxy'
> = {
  methods: list('methods', oneOf('methods', ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']), '[GET]'),
  secret: name('secret').optional(),
  auth: auth.optional(),
  headers: list('headers', token('a header', 'x-request-id'), '[x-request-id]', 32).optional(),
  addresses: addresses.optional(),
  ca: name('ca').optional(),
  client: client.optional(),
  proxy: proxy.optional(),
};

/** An origin with a path prefix. */
export const http: RecordOf<HttpCap> = record('an http cap', {
  http: prefix('http', 'https://api.github.com/repos/acme/app/'),
  ...requests,
  own,
  ...terms,
});

const recipients = (kind: string): z.ZodRecord<z.ZodString, z.ZodString> =>
  z
    .record(text('a recipient', '"#eng"').max(200), name('a secret'), {
      error: say(`${kind} is a record of recipients`, 'write for example {"#eng": ENG_HOOK}'),
    })
    .refine((all) => Object.keys(all).length > 0 && Object.keys(all).length <= 64, {
      error: say(`${kind} has no recipients, or more than 64`, 'write for example {"#eng": ENG_HOOK}'),
    });

/** A way to recipients. */
export const channel: z.ZodType<Channel, Channel> = z.union(
  [
    record('a channel', { slack: recipients('slack'), addresses: addresses.optional() }),
    record('a channel', { webhook: recipients('webhook'), addresses: addresses.optional() }),
    record('a channel', {
      smtp: text('smtp', 'mail.example.org:465').regex(/^[^\s/@]+:\d{1,5}$/, {
        error: say('smtp is not HOST:PORT', 'write for example mail.example.org:465'),
      }),
      from: text('from', 'hob@example.org').regex(/^[^\s@]+@[^\s@]+$/, {
        error: say('from is no mailbox', 'write for example hob@example.org'),
      }),
      tls: oneOf('tls', ['implicit', 'starttls', 'none']).optional(),
      user: text('user', 'hob').optional(),
      secret: name('secret').optional(),
      addresses: addresses.optional(),
    }),
    record('a channel', { outbox: text('outbox', 'project/outbox') }),
  ],
  { error: say('a channel has one of slack, webhook, smtp and outbox', 'write for example {slack: {"#eng": ENG_HOOK}}') }, // biome-ignore format: one line
);

/** One recipient. */
export const message: RecordOf<MessageCap> = record('a message cap', {
  message: text('message', '"slack:#eng"').regex(/^[A-Za-z][A-Za-z0-9_-]*:\S(?:.*\S)?$/, {
    error: say('message is not CHANNEL:RECIPIENT', 'write for example "slack:#eng" or mail:ann@example.org'),
  }),
  ...terms,
});

/** By https, or on this machine, without a name, a query and a fragment. */
export const isModelUrl = (given: string): boolean =>
  /^(?:https:\/\/[A-Za-z0-9.:[\]-]+|http:\/\/(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?)(?:\/[^\s?#\\*]*)?$/.test(
    given,
  ) && URL.canParse(given);
