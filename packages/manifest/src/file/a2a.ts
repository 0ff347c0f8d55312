/** The agent card of `hob.yaml`, and the agents that may send tasks. */
import * as z from 'zod';
import type { A2aPart, A2aPeer, PublicKey } from './a2a-part.ts';
import { isAddress } from './net.ts';
import { duration, list, name, named, oneOf, type RecordOf, record, say, text } from './shapes.ts';
import { milliseconds } from './terms.ts';

const address = (part: string, example: string): z.ZodType<string, string> =>
  text(part, example).refine(isAddress, {
    error: say(`${part} is not an address`, `write for example ${example}, without a user`),
  });

const point = (part: string): z.ZodString =>
  text(part, '11qYAYKx').regex(/^[\w-]{43}(?:[\w-]{21})?$/, { error: say(`${part} is no part of a public key`, 'copy what hob card --public-key prints') }); // biome-ignore format: one line

/** The key of a peer. A private key has parts that this refuses. */
const key: z.ZodType<PublicKey, PublicKey> = record('a public key', {
  kty: oneOf('kty', ['OKP', 'EC']),
  crv: oneOf('crv', ['Ed25519', 'P-256', 'P-384']),
  ...{ x: point('x'), y: point('y').optional() },
  ...{ alg: text('alg', 'EdDSA').max(16).optional(), use: text('use', 'sig').max(16).optional() },
  kid: text('kid', 'a thumbprint').max(200).optional(),
} satisfies Record<keyof PublicKey, z.ZodType>).refine(({ kty, crv, y }) => (kty === 'OKP') === (crv === 'Ed25519') && (kty === 'EC') === (y !== undefined), { error: say('kty, crv and y do not belong together', 'copy what hob card --public-key prints') }); // biome-ignore format: one line

const peer: RecordOf<A2aPeer> = record('a peer', {
  key,
  gives: list('gives', name('a cap'), '[notes]', 100).optional(),
  asks: list('asks', name('a cap'), '[notes]', 100).optional(),
  agent: name('agent').optional(),
  lasts: duration
    .refine((given) => milliseconds(given) <= 86_400_000, {
      error: say('lasts is more than 1d', 'write for example 1h'),
    })
    .optional(),
});

/** `a2a:` of a manifest. */
export const a2a: RecordOf<A2aPart> = record('a2a', {
  name: text('name', 'Timmy').max(200).optional(),
  description: text('description', 'Mends the tests of acme').max(4096).optional(),
  version: text('version', '1.0.0').max(64).optional(),
  url: address('url', 'https://agent.example.com/a2a').optional(),
  skills: list('skills', text('a folder of skills', '~/skills'), '[~/skills]', 16).optional(),
  disabled: list('disabled', text('a skill', 'old-skill').max(200), '[old-skill]', 1_000).optional(),
  provider: record('a provider', {
    organization: text('organization', 'Acme').max(200),
    url: address('url', 'https://acme.example.com/'),
  }).optional(),
  serve: z.boolean({ error: say('serve is true or false', 'write true') }).optional(),
  key: name('key').optional(),
  peers: named('peers', peer).optional(),
});
