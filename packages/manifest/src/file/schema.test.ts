/** The schema is one for the check, for TypeScript and for editors. */
import { expect, test } from 'vitest';
import { defineManifest, jsonSchema, manifestSchema } from '../index.ts';

test('the JSON Schema is plain data and names the keys of a manifest and of each kind of cap', () => {
  const schema = jsonSchema() as { properties: Record<string, unknown>; additionalProperties: unknown };
  expect(JSON.parse(JSON.stringify(schema))).toEqual(schema);
  expect(Object.keys(schema.properties)).toEqual([
    ...[
      'version',
      'roots',
      'servers',
      'channels',
      'agents',
      'flags',
      'session',
      'children',
      'granters',
      'judge',
      'ledger',
      'firewall',
      'a2a',
      'chats',
    ],
  ]);
  expect(schema.additionalProperties).toBe(false);
  const text = JSON.stringify(schema);
  for (const key of [
    'fs',
    'command',
    'shell',
    'http',
    'mcp',
    'message',
    'schedule',
    'argv',
    'not_match',
    'always_human',
  ])
    expect(text).toContain(`"${key}":`);
});

test('a manifest in TypeScript is checked like one in YAML', () => {
  const manifest = defineManifest({
    version: 1,
    roots: { project: '.' },
    session: { caps: { docs: { fs: 'project', can: ['read'], for: '15m' } } },
  });
  expect(manifestSchema.parse(manifest)).toEqual(manifest);
  // @ts-expect-error there is no such key
  expect(manifestSchema.safeParse(defineManifest({ version: 1, sesion: {} })).success).toBe(false);
});
