/** The published schema, and the page about the format: both say what the check says. */
import { readdirSync, readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { HOSTILE } from '../../test/hostile.ts';
import { check, jsonSchema, lineOf, parse, reviewedFlags, startCommands, starterText } from '../index.ts';
import { ABOUT, keysOf, type Part } from './about.ts';

const top = new URL('../../../../', import.meta.url);
const read = (name: string): string => readFileSync(new URL(name, top), 'utf8');
/** As an editor would: it knows the file of the package and nothing of this program. */
const accepts = new Ajv2020({ allErrors: true }).compile(JSON.parse(read('packages/manifest/hob.schema.json')));

/** The blocks of YAML in a page. */
const blocks = (page: string): readonly string[] => [...read(page).matchAll(/^```yaml\n([\s\S]*?)^```/gm)].map((one) => one[1] ?? ''); // biome-ignore format: one line

test('the schema in the package is the one of the check: hob check --schema > packages/manifest/hob.schema.json', () => {
  expect(JSON.parse(read('packages/manifest/hob.schema.json'))).toEqual(jsonSchema());
});

test('an editor accepts every example, the blocks of the pages, and what hob init writes', () => {
  const examples = readdirSync(new URL('examples/manifests/', top)).filter((name) => name.endsWith('.yaml'));
  expect(examples.length).toBeGreaterThan(5);
  const commands = startCommands(['git', 'npm test', 'ls', 'make "a b" text']);
  if ('why' in commands) throw new Error(commands.why);
  const texts = [
    ...examples.map((name) => read(`examples/manifests/${name}`)),
    ...blocks('docs/manifest.md'),
    ...blocks('packages/manifest/README.md'),
    ...(['read', 'ask', 'write'] as const).map((may) => starterText({ root: '/srv/a "b', may, commands }, './s.json')),
  ];
  for (const text of texts) {
    accepts(parseYaml(text));
    expect([text, accepts.errors ?? []]).toEqual([text, []]);
    expect(parse({ file: 'hob.yaml', text }).mistakes.map(lineOf)).toEqual([]);
  }
});

test.for([
  '{}',
  'version: 2',
  'version: 1\nsesion: {}',
  'version: 1\nroots: { "a b": /srv }',
  'version: 1\nroots: { a: { temp: false } }',
  'version: 1\nservers: { a: { command: node } }',
  'version: 1\nsession: { mode: yolo }',
  'version: 1\nsession: { deadline: 8 }',
  'version: 1\nsession: { deadline: 8 hours }',
  'version: 1\njudge: { may: [grant] }',
  'version: 1\nfirewall: { mode: off }',
  'version: 1\nfirewall: {}',
  'version: 1\nfirewall: { mode: observe, hooks: { a: { program: a, on: pre_call } } }',
  'version: 1\nfirewall: { mode: observe, hooks: { a: { program: a, on: pre_call, sha256: abc } } }',
  ...[
    '{ fs: project }',
    '{ fs: project, can: [] }',
    '{ fs: project, can: [reed] }',
    '{ fs: project, can: [read], argv: [[a]] }',
    '{ fs: project, can: [read], uses: 0 }',
    '{ fs: project, can: [read], for: 15 minutes }',
    '{ fs: project, can: [read], level: none }',
    '{ fs: project, can: [read], sensitivity: low }',
    '{ fs: project, can: [read], offer: { uses: 1 } }',
    '{ command: git }',
    '{ command: git log, argv: [[a]] }',
    '{ command: git, argv: [log] }',
    '{ command: git, argv: [] }',
    '{ command: git, argv: [[log]], net: full }',
    '{ shell: host, mounts: [a] }',
    '{ http: "https://a.example/" }',
    '{ http: "https://a.example/", methods: [GET], auth: bearer }',
    '{ mcp: linear, tools: [] }',
    '{ shell: sandbox, mounts: [a], net: [] }',
    '{ host: "a.example:443" }',
    '{ host: A.example }',
    '{ host: a.example, port: 0 }',
    '{ host: a.example, client: cert }',
    '{ unix: /run/a.sock, at: a.sock }',
    '{ forward: "https://git.example/acme/" }',
    '{ sign: rsa, secret: KEY }',
    '{ sign: ed25519 }',
    '{ message: anybody }',
    '{}',
  ].map((cap) => `version: 1\nsession: { caps: { a: ${cap} } }`),
])('an editor marks %s', (text) => {
  expect(accepts(parseYaml(text))).toBe(false);
  expect(parse({ file: 'hob.yaml', text }).mistakes.length).toBeGreaterThan(0);
});

test('an editor marks nothing that the check takes', () => {
  for (const { text } of HOSTILE) {
    const { manifest } = parse({ file: 'hob.yaml', text });
    if (manifest !== undefined) expect([text, accepts(manifest)]).toEqual([text, true]);
  }
});

const HEADS: Readonly<Record<Part, string>> = {
  file: '## The file',
  root: '## Roots',
  server: '## Servers',
  effect: '### Effects of a tool',
  channel: '## Channels',
  agent: '## Agents',
  session: '## The session',
  cap: '## Caps',
  bound: '### Bounds of arguments',
  auth: '### Where a secret goes',
  client: '### Certificates and proxies',
  proxy: '### Certificates and proxies',
  offer: '### Offers',
  child: '## Children',
  judge: '## Judge and ledger',
  ledger: '## Judge and ledger',
  firewall: '## Firewall',
  guardrails: '### Guardrails',
  guardrail: '### Guardrails',
  hook: '### Hooks',
  a2a: '## Agent card',
  chat: '## Chats',
  peer: '### Tasks of other agents',
  publicKey: '### Tasks of other agents',
  provider: '## Agent card',
};

test('every key of the schema has a sentence for editors and a row in docs/manifest.md, and no other key has one', () => {
  const page = read('docs/manifest.md');
  const keys = keysOf(jsonSchema() as Parameters<typeof keysOf>[0]);
  for (const part of Object.keys(HEADS) as Part[]) {
    const own = [...(keys.get(part) ?? [])];
    expect([part, own.sort()]).toEqual([part, Object.keys(ABOUT[part]).sort()]);
    const section = page.slice(page.indexOf(`${HEADS[part]}\n`)).split(/\n##+ /)[0] ?? '';
    const lines = section.split('\n').filter((line) => line.startsWith('|'));
    for (const key of own)
      expect(lines.some((line) => line.split('|').slice(1, 3).some((cell) => cell.includes(`\`${key}\``))), `${part}.${key}`).toBe(true); // biome-ignore format: one line
  }
});

test('the examples of docs/manifest.md compile without a warning, and it lists the flags of each reviewed set', () => {
  const whole = blocks('docs/manifest.md').filter((text) => text.includes('roots:'));
  expect(whole.length).toBeGreaterThan(1);
  for (const text of whole)
    expect(check([{ layer: 'user', file: 'hob.yaml', text }], { now: 0 }).mistakes.map(lineOf)).toEqual([]);
  const rows = read('docs/manifest.md').split('\n');
  for (const [set, flags] of Object.entries(reviewedFlags)) {
    const row = rows.find((line) => line.startsWith(`| \`${set}\``)) ?? '';
    expect([...(row.split('|').at(-2) ?? '').matchAll(/`([^`]+)`/g)].map((one) => one[1])).toEqual(flags);
  }
});
