/** The parts of a plan beside caps: children, granters, judge, ledger; and `not_match` over several layers. */
import { expect, test } from 'vitest';
import { check, decide, type Layer, type LayerName, lineOf, type Plan } from '../index.ts';

const now = Date.parse('2026-11-23');
const layer = (name: LayerName, manifest: object): Layer => ({
  layer: name,
  file: `${name}.yaml`,
  text: JSON.stringify({ version: 1, ...manifest }),
});
const ROOTS = { roots: { project: '/p', other: '/o' }, channels: { mail: { outbox: 'other' } } };
const docs = { fs: 'project', can: ['read', 'list'] };
const said = (...all: readonly Layer[]): readonly string[] => check(all, { now }).mistakes.map(lineOf);

test('granters, judge and ledger are in the plan, and a lower layer adds nothing to them', () => {
  const upper = layer('user', {
    ...ROOTS,
    session: { caps: { docs } },
    granters: ['ann', 'bob'],
    judge: { may: ['refuse'], model: 'small' },
    ledger: { path: '/l', keep: '90d' },
  });
  const lower = layer('project', {
    granters: ['bob', 'eve'],
    judge: { may: ['propose', 'refuse'], model: 'large' },
    ledger: { path: '/tmp', keep: '1d', redact: 'secrets' },
  });
  const { plan, mistakes } = check([upper, lower], { now });
  expect(plan).toMatchObject({
    granters: ['bob'],
    judge: { may: ['refuse'], model: 'small' },
    ledger: { path: '/l', keepMs: 90 * 86_400_000, redact: 'secrets' },
  });
  expect(mistakes.map(({ at, severity }) => [at, severity])).toEqual([
    ['granters', 'warning'],
    ['judge', 'warning'],
    ['ledger.path', 'warning'],
    ['ledger.keep', 'warning'],
  ]);
  const silent = check([layer('user', { session: { caps: {} } }), lower], { now });
  expect(silent.plan).not.toHaveProperty('granters');
  expect(silent.plan).not.toHaveProperty('judge');
});

test('a child gets whole caps, or the part that reads', () => {
  const session = {
    caps: { docs, mail: { message: 'mail:x' }, git: { command: 'git', argv: [['log'], ['push']] } },
  };
  const children = (give: readonly string[]): Layer =>
    layer('user', { ...ROOTS, session, children: { reviewer: { give } } });
  expect(check([children(['docs', 'git.readonly'])], { now }).plan?.children).toEqual({
    reviewer: [{ cap: 'docs' }, { cap: 'git', readonly: true }],
  });
  expect(said(children(['dosc', 'docs.all', 'mail.readonly', 'git', 'git.readonly']))).toEqual([
    expect.stringContaining('did you mean docs?'),
    expect.stringContaining('"docs.all" is not a part of a cap'),
    expect.stringContaining('nothing of mail only reads'),
    expect.stringContaining('git is given twice'),
  ]);
  const lower = layer('project', {
    session: { caps: { docs, git: session.caps.git } },
    children: { reviewer: { give: ['git'] } },
  });
  expect(check([children(['docs', 'git.readonly']), lower], { now }).plan?.children).toEqual({
    reviewer: [{ cap: 'git', readonly: true }],
  });
});

test('not_match of a lower layer holds for the caps of all layers', () => {
  const upper = layer('user', {
    session: { caps: { git: { command: 'git', argv: [['log|push']] }, npm: { command: 'npm', argv: [['ci']] } } },
  });
  const lower = layer('project', {
    session: { caps: { npm: { command: 'npm', argv: [['ci']], not_match: ['git push'] } } },
  });
  expect(said(upper, lower)).toEqual([
    expect.stringMatching(/^project\.yaml:1:\d+: session\.caps\.npm\.not_match\[0\]: the cap git runs this/),
  ]);
  const { plan } = check([upper], { now });
  expect(plan?.never).toEqual([]);
});

test('a match that a layer above does not allow is a warning', () => {
  const upper = layer('user', { session: { caps: { git: { command: 'git', argv: [['log']] } } } });
  const lower = layer('project', {
    session: { caps: { git: { command: 'git', argv: [['log'], ['push']], match: ['git push'] } } },
  });
  expect(said(upper, lower)).toEqual([
    expect.stringContaining('1 rows of argv allow more'),
    expect.stringContaining('a layer above does not allow this'),
  ]);
});

test('a deny of a name that no cap has is a warning with the nearest name', () => {
  expect(
    said(layer('user', { session: { caps: { push: { command: 'git', argv: [['push']] } }, deny: ['psuh'] } })),
  ).toEqual([
    expect.stringContaining(
      'warning: session.deny[0]: no cap is named psuh, so this denies nothing; did you mean push?',
    ),
  ]);
  expect(said(layer('organisation', { session: { deny: ['push'] } }))).toEqual([]);
});

test('a program sees no directory whose names, uses or questions a sandbox cannot keep', () => {
  const of = (cap: object, how: 'caps' | 'ask' = 'caps'): readonly string[] =>
    said(
      layer('user', {
        ...ROOTS,
        session: { [how]: { d: { ...docs, ...cap }, sh: { shell: 'sandbox', mounts: ['d'] } } },
      }),
    );
  expect(of({ except: ['.env'] })).toEqual([expect.stringContaining('also sees what except hides')]);
  expect(of({ uses: 3 })).toEqual([expect.stringContaining('cannot be counted')]);
  expect(of({ always_human: true })).toEqual([expect.stringContaining('waits for a person, and a program does not')]);
  expect(of({ can: ['write'] })).toEqual([expect.stringContaining('add read and list')]);
  expect(of({})).toEqual([]);
});

test('path(CAP) needs a cwd of the same root, and a shell runs in one of its mounts', () => {
  const of = (command: object): readonly string[] =>
    said(layer('user', { ...ROOTS, session: { caps: { docs, x: command } } }));
  const argv = [['add', 'path(docs)']];
  expect(of({ command: 'git', argv })).toEqual([expect.stringContaining('this command has none; write cwd: ROOT')]);
  expect(of({ command: 'git', argv, cwd: 'other' })).toEqual([expect.stringContaining('another root than cwd')]);
  expect(of({ command: 'git', argv, cwd: 'project' })).toEqual([]);
  expect(of({ shell: 'sandbox', mounts: ['docs'], cwd: 'other' })).toEqual([
    expect.stringContaining('none of the mounts'),
  ]);
});

test('a program whose cwd was held by a mount has no cwd when a lower layer takes the mount away', () => {
  const upper = layer('user', {
    ...ROOTS,
    session: { caps: { docs, make: { command: 'make', cwd: 'project', mounts: ['docs'], argv: [['all']] } } },
  });
  const { plan } = check([upper, layer('project', { session: { deny: ['docs'] } })], { now });
  expect(plan?.caps['make']).toMatchObject({ mounts: [], effect: 'read' });
  expect(plan?.caps['make']).not.toHaveProperty('cwd');
});

test('patterns with **/ are limited in the whole manifest, with the line of the first that is too many', () => {
  const caps = (many: number): object =>
    Object.fromEntries(
      [0, 1].map((n) => [
        n === 0 ? 'docs' : 'work',
        { ...docs, except: Array.from({ length: many }, (_, m) => `**/${'ab'[n]}${m}`) },
      ]),
    );
  expect(said(layer('user', { ...ROOTS, session: { caps: caps(32) } }))).toEqual([]);
  expect(said(layer('user', { ...ROOTS, session: { caps: caps(33) } }))).toEqual([
    expect.stringMatching(
      /session\.caps\.work\.except\[31\]: this is more than 64 patterns with \*\*\/, and each.*; write the name/,
    ),
  ]);
});

test('a path deeper than a directory takes is absent, however many patterns there are', () => {
  const except = Array.from({ length: 64 }, (_, n) => `**/a*b*c${n}`);
  const { plan } = check([layer('user', { ...ROOTS, session: { caps: { docs: { ...docs, except } } } })], { now });
  const at = (names: number): string => decide(plan as Plan, { cap: 'docs', method: 'readText', path: `${'ab/'.repeat(names - 1)}x` }); // biome-ignore format: one line
  expect([at(128), at(129), at(100_000)]).toEqual(['runs', 'absent', 'absent']);
});

test('two lists of except hide what either hides, and ! of one takes nothing back of the other', () => {
  const of = (name: LayerName, except: readonly string[]): Layer =>
    layer(name, { ...(name === 'user' ? ROOTS : {}), session: { caps: { docs: { ...docs, except } } } });
  const { plan, mistakes } = check([of('user', ['.env*']), of('project', ['*.pem', '!.env.example'])], { now });
  expect(mistakes.map(lineOf)).toEqual([expect.stringContaining('patterns with ! could show')]);
  for (const path of ['.env.example', 'a/.env', 'x.pem'])
    expect(decide(plan as Plan, { cap: 'docs', method: 'readText', path })).toBe('absent');
});

test('a command whose rows are all known to read only reads; a lower layer never makes a call that asked run', () => {
  const git = (argv: readonly (readonly string[])[], more: object = {}): object => ({
    session: { mode: 'supervised', caps: { git: { command: 'git', cwd: 'project', argv, ...more } } },
  });
  const upper = layer('user', { ...ROOTS, ...git([['log|push', 'text']]) });
  const lower = layer('project', git([['log', 'text']], { reads: true }));
  const plans = [[layer('user', { ...ROOTS, ...git([['log', 'text']]) })], [upper], [upper, lower]].map(
    (all) => check(all, { now }).plan as Plan,
  );
  expect(plans.map((plan) => decide(plan, { command: 'git log main' }))).toEqual(['runs', 'asks', 'asks']);
  expect(plans.map((plan) => plan.caps['git'])).toMatchObject([
    { reads: true, effect: 'read' },
    { effect: 'write' },
    { reads: true, effect: 'write' },
  ]);
});
