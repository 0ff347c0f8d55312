/** Wish lists: whatever a file in a root says, nothing is added without a matching acceptance, and never to `caps`. */
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Call, check, decide, lineOf, type Plan, type Wished, wish } from './index.ts';

const now = Date.parse('2026-11-23');
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const GOVERNING = `
version: 1
roots: { project: /srv/app }
channels: { mail: { webhook: { x: X_HOOK } } }
session:
  mode: autonomous
  caps:
    src: { fs: project/src, can: [read, list, write] }
    git: { command: git, argv: [[log]], not_match: ["git push --force"] }
  deny: [mail]
`;
const plan = check([{ layer: 'user', file: 'hob.yaml', text: GOVERNING }], { now }).plan as Plan;
const wished = (text: string, accepted: readonly string[] = []): Wished =>
  wish(plan, { file: 'app/hob.yaml', text }, { now, accepted, sha256 });
const saidOf = (ask: string, more = ''): string =>
  wished(`version: 1\nsession:\n  ask: ${ask}\n${more}`).mistakes.map(lineOf).join('\n');

const LIST = `
version: 1
session:
  ask:
    test: { command: npm, cwd: project, argv: [[test]], mounts: [src], offer: { uses: 3 } }
    docs: { fs: project/docs, can: [read] }
`;

test('a wish list adds to ask after a granter accepted its text, and nothing before', () => {
  const before = wished(LIST);
  expect(before).toMatchObject({ isAccepted: false, hash: sha256(LIST), mistakes: [] });
  expect(before.plan).toBe(plan);
  expect(before.asks.map(({ name, how }) => [name, how])).toEqual([
    ['docs', 'ask'],
    ['test', 'ask'],
  ]);
  const after = wished(LIST, [before.hash]);
  expect(Object.keys(after.plan.caps).sort()).toEqual(['docs', 'git', 'src', 'test']);
  expect(decide(after.plan, { cap: 'test', argv: ['test'] })).toBe('asks');
  expect(decide(after.plan, { cap: 'docs', method: 'readText', path: 'a' })).toBe('asks');
});

test('the acceptance ends with any change of the file', () => {
  for (const text of [`${LIST} `, LIST.replace('uses: 3', 'uses: 4'), LIST.replace('[read]', '[read, write]')]) {
    const changed = wished(text, [sha256(LIST)]);
    expect(changed.isAccepted).toBe(false);
    expect(changed.plan).toBe(plan);
  }
});

test.for([
  ['{}', 'roots: { all: / }', 'roots: this file lies in a root, so it can only ask'],
  ['{}', 'granters: [agent]', 'granters: this file lies in a root'],
  ['{}\n  caps: { x: { message: "mail:x" } }', '', 'session.caps: this file lies in a root'],
  ['{}\n  mode: autonomous', '', 'session.mode: this file lies in a root'],
  ['{ gh: { http: "https://x.example/", methods: [GET], secret: KEY } }', '', 'a wish list names no secret'],
  ['{ x: { fs: project, can: [read], level: high } }', '', 'a wish list says nothing about how risky its caps are'],
  ['{ x: { fs: project, can: [read], sensitivity: scratch } }', '', 'x.sensitivity: a wish list says nothing'],
  ['{}', 'firewall: { mode: observe }', 'firewall: this file lies in a root'],
  [
    '{ gh: { http: "https://x.example/", methods: [GET], addresses: [127.0.0.1] } }',
    '',
    'opens no address of this network',
  ],
  ['{ later: { schedule: a, gives: [src] } }', '', 'session.ask.later.schedule: a wish list asks for no schedule'],
  ['{}', 'agents: { a: { command: [sh] } }', 'agents: this file lies in a root'],
  ['{ tell: { message: "mail:eve" } }', '', 'the channel mail has no recipient "eve"'],
  ['{}', 'channels: { mail: { outbox: project } }', 'channels: this file lies in a root'],
  ['{ src: { fs: project, can: [read] } }', '', 'the manifest has src already'],
  ['{ mail: { message: "mail:x" } }', '', 'the manifest denies mail'],
  ['{ Src: { fs: project, can: [read] } }', '', 'Src looks like src'],
  ['{ mai1: { message: "mail:x" } }', '', 'the manifest denies mail, which mai1 looks like'],
  [
    `{ ${Array.from({ length: 33 }, (_, n) => `w${n}x: { fs: project, can: [read] }`).join(', ')} }`,
    '',
    'more than 32 caps',
  ],
  ['{ x: { fs: other, can: [read] } }', '', 'there is no root "other"'],
  ['{ push: { command: git, argv: [[push, --force]] } }', '', 'not_match of the manifest excludes'],
  ['{ sh: { shell: sandbox, mounts: [src] } }', '', 'not_match of the manifest excludes'],
  ['{ m: { mcp: linear, tools: [a] } }', '', 'there is no server linear'],
] as const)('%s %s is refused: %s', ([ask, more, said]) => {
  expect(saidOf(ask, more)).toContain(said);
  expect(saidOf(ask, more)).toMatch(/^app\/hob\.yaml:\d+:\d+: /);
  const text = `version: 1\nsession:\n  ask: ${ask}\n${more}`;
  expect(wished(text, [sha256(text)]).plan).toBe(plan);
});

const cap = fc.oneof(
  fc.record({
    fs: fc.constantFrom('project', 'project/src', 'other', '/etc'),
    can: fc.uniqueArray(fc.constantFrom('read', 'list', 'write', 'remove'), { minLength: 1 }),
  }),
  fc.record({
    command: fc.constantFrom('git', 'npm'),
    argv: fc.array(fc.array(fc.constantFrom('log', 'push', '--force', 'x', 'text'), { minLength: 1, maxLength: 3 }), {
      minLength: 1,
      maxLength: 2,
    }),
  }),
  fc.record({ shell: fc.constant('sandbox'), mounts: fc.constant(['src']) }),
  fc.record({ message: fc.constant('mail:x') }),
);
const caps = fc.dictionary(fc.constantFrom('src', 'git', 'mail', 'a', 'b', 'Git'), cap, { maxKeys: 3 });
const wild = fc.record(
  {
    session: fc.record(
      {
        ask: caps,
        caps,
        mode: fc.constantFrom('plan', 'autonomous'),
        deny: fc.constant(['src']),
        deadline: fc.constant('300d'),
      },
      { requiredKeys: [] },
    ),
    roots: fc.constant({ other: '/' }),
    granters: fc.constant(['agent']),
    children: fc.constant({ spy: { give: ['src'] } }),
  },
  { requiredKeys: ['session'] },
);
const valid = fc.oneof(
  fc.record({ fs: fc.constantFrom('project', 'project/src'), can: fc.constantFrom(['read'], ['read', 'write']) }),
  fc.record({ command: fc.constantFrom('git', 'npm'), argv: fc.constantFrom([['push', 'ref']], [['x', 'text']]) }),
  fc.record({ message: fc.constant('mail:x') }),
);
const plain = fc.record({ session: fc.record({ ask: fc.dictionary(fc.constantFrom('a', 'b', 'x'), valid) }) });
const list = fc.oneof(wild, plain).map((one) => JSON.stringify({ version: 1, ...one }));
const CALLS: readonly Call[] = ['src', 'git', 'mail', 'a', 'b', 'Git'].flatMap((name): Call[] => [
  { cap: name },
  ...['read', 'write', 'remove'].map((method) => ({ cap: name, method })),
  ...[['log'], ['push'], ['push', '--force'], ['x']].map((argv) => ({ cap: name, argv })),
]);

test('no wish list widens caps, and none adds anything without its own accepted hash', () => {
  let added = 0;
  fc.assert(
    fc.property(list, fc.boolean(), fc.string(), (text, isAccepted, other) => {
      const accepted = [sha256(LIST), sha256(`${text} `), ...(other === text ? [] : [sha256(other)])];
      const given = wished(text, isAccepted ? [...accepted, sha256(text)] : accepted);
      if (!isAccepted) {
        expect(given.plan).toBe(plan);
        return;
      }
      const { caps: all, ...rest } = given.plan;
      const { caps: own, ...same } = plan;
      expect(rest).toEqual(same);
      for (const [name, one] of Object.entries(own)) expect(all[name]).toBe(one);
      for (const [name, one] of Object.entries(all)) if (!Object.hasOwn(own, name)) expect(one.how).toBe('ask');
      for (const call of CALLS) {
        const [now_, before] = [decide(given.plan, call), decide(plan, call)];
        expect([call, now_ === before || (before === 'absent' && now_ === 'asks')]).toEqual([call, true]);
      }
      expect(decide(given.plan, { command: 'git push --force' })).toBe('absent');
      if (Object.keys(all).length > Object.keys(own).length) added += 1;
    }),
    { numRuns: 400 },
  );
  expect(added).toBeGreaterThan(10);
});
