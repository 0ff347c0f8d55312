/** The agent card of `hob.yaml`. */
import * as z from 'zod';
import { isAddress } from './net.ts';
import { list, name, type RecordOf, record, say, text } from './shapes.ts';
import type { A2aPart } from './types.ts';

const address = (part: string, example: string): z.ZodType<string, string> =>
  text(part, example).refine(isAddress, {
    error: say(`${part} is not an address`, `write for example ${example}, without a user`),
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
});
