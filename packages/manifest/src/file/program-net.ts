/** The shapes of caps that programs reach the network with, and of a key that signs. */
import * as z from 'zod';
import { addresses, client, prefix, requests } from './net.ts';
import { list, name, oneOf, type RecordOf, record, say, terms, text } from './shapes.ts';
import type { ForwardCap, HostCap, ProgramNet, SignCap, UnixCap } from './types.ts';

/** The network of a program: none, or names of caps. */
export const programNet: z.ZodType<ProgramNet, ProgramNet> = z.union(
  [z.literal('none'), list('net', name('a cap of net'), '[registry]', 16)],
  {
    error: say(
      'net is none, or a list of names of caps with host, unix or forward',
      'write none, or for example [registry]',
    ),
  },
);

/** A host and port. */
export const host: RecordOf<HostCap> = record('a host cap', {
  host: text('host', 'registry.example.org').regex(/^(?:[a-z0-9.-]+|\[[0-9a-f:.]+\])$/, {
    error: say(
      'host is not a name or an address, in lower case, without a port',
      'write for example registry.example.org',
    ),
  }),
  port: z
    .int({ error: say('port is a whole number', 'write for example 443') })
    .min(1, { error: say('port is less than 1', 'write for example 443') })
    .max(65_535, { error: say('port is more than 65535', 'write for example 443') })
    .optional(),
  tls: z.boolean({ error: say('tls is true or false', 'write false, or leave it out') }).optional(),
  addresses: addresses.optional(),
  client: client.optional(),
  ca: name('ca').optional(),
  ...terms,
});

const place = (what: string, example: string): z.ZodString =>
  text(what, example)
    .max(100)
    .regex(/^[^\0\n\r]+$/, { error: say(`${what} is not a path`, `write for example ${example}`) });

/** A Unix socket of this machine. */
export const unix: RecordOf<UnixCap> = record('a unix cap', {
  unix: place('unix', '/run/postgresql/.s.PGSQL.5432'),
  at: place('at', '/run/db.sock')
    .regex(/^\//, { error: say('at is not an absolute path', 'write for example /run/db.sock') })
    .optional(),
  ...terms,
});

/** An origin with a path prefix. */
export const forward: RecordOf<ForwardCap> = record('a forward cap', {
  forward: prefix('forward', 'https://git.example.org/acme/'),
  ...requests,
  ...terms,
});

/** A key that signs. */
export const sign: RecordOf<SignCap> = record('a sign cap', {
  sign: oneOf('sign', ['ed25519', 'hmac-sha256']),
  secret: name('secret'),
  context: text('context', '"release of acme "').max(256).optional(),
  ...terms,
});
