/** Layers: whatever they say, in whatever order, no layer adds to what the bound gives. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { volume } from '../../../test/depth.ts';
import { type Call, check, decide, type Layer, type LayerName, layers, lineOf, type Plan } from './index.ts';

const now = Date.parse('2026-11-23');
const layer = (name: LayerName, session: unknown, more: object = {}): Layer => ({
  layer: name,
  file: `${name}.yaml`,
  // JSON is YAML.
  text: JSON.stringify({ version: 1, ...more, session }),
});
const ROOTS = {
  roots: { project: '.', other: '/srv' },
  channels: { mail: { webhook: { x: 'X_HOOK', y: 'Y_HOOK' } } },
  agents: { p: { command: ['p'] }, q: { command: ['q'] } },
};

test('a lower layer narrows, removes, and moves to ask; what would widen is dropped with its line', () => {
  const { plan, mistakes } = check(
    [
      layer(
        'user',
        {
          deadline: '8h',
          mode: 'autonomous',
          caps: {
            docs: { fs: 'project', can: ['read', 'list'], except: ['.env*'], uses: 10 },
            git: { command: 'git', argv: [['log|status'], ['push', 'ref']] },
            gh: { http: 'https://api.example/acme/', methods: ['GET', 'POST'] },
            gone: { fs: 'project', can: ['read'] },
          },
        },
        ROOTS,
      ),
      layer('project', {
        deadline: '9h',
        mode: 'supervised',
        caps: {
          docs: { fs: 'project/docs', can: ['read', 'write'], except: ['*.pem'], uses: 20 },
          git: { command: 'git', argv: [['log'], ['commit']] },
          more: { fs: 'project', can: ['read'] },
        },
        ask: { gh: { http: 'https://api.example/acme/app/', methods: ['GET', 'DELETE'] } },
        deny: ['gone'],
      }),
    ],
    { now },
  );
  expect(plan).toMatchObject({ deadlineMs: 8 * 3_600_000, mode: 'supervised', denied: ['gone'] });
  expect(plan?.caps).toMatchObject({
    docs: {
      directory: { root: 'project', path: 'docs' },
      can: ['read'],
      except: ['*.pem', '.env*'],
      terms: { uses: 10 },
    },
    git: { rows: [[{ kind: 'literal', texts: ['log'] }]] },
    gh: { how: 'ask', path: '/acme/app/', methods: ['GET'] },
  });
  expect(Object.keys(plan?.caps ?? {}).sort()).toEqual(['docs', 'gh', 'git']);
  expect(mistakes.map(lineOf)).toEqual([
    expect.stringMatching(/^project\.yaml:1:\d+: warning: session\.caps\.docs: can write is more/),
    expect.stringMatching(/^project\.yaml:1:\d+: warning: session\.caps\.git: 1 rows of argv allow more/),
    expect.stringMatching(/^project\.yaml:1:\d+: warning: session\.caps\.more: no layer above has more/),
    expect.stringMatching(/^project\.yaml:1:\d+: warning: session\.ask\.gh: methods DELETE is more/),
  ]);
});

test('a lower layer gets the secret, headers and addresses of the layer above at the most, and silence inherits', () => {
  const gh = { http: 'https://api.example/acme/', methods: ['GET'], headers: ['x-a'], addresses: ['10.0.0.1'] };
  const user = layer('user', { caps: { gh: { ...gh, secret: 'K' } } }, ROOTS);
  const lower = (more: object): readonly unknown[] => {
    const { plan, mistakes } = check([user, layer('project', { caps: { gh: { ...gh, secret: 'K', ...more } } })], {
      now,
    });
    return [plan?.caps['gh'], mistakes.length];
  };
  const own = check([user], { now }).plan?.caps['gh'];
  expect(lower({ headers: undefined, addresses: undefined })).toEqual([own, 0]);
  expect(lower({ headers: ['x-a', 'x-b'], addresses: ['10.0.0.1', '10.0.0.2'] })).toEqual([own, 2]);
  expect(lower({ secret: 'L' })).toEqual([own, 1]);
  expect(lower({ auth: { query: 'key' } })).toEqual([own, 1]);
});

test('a layer above the bound still denies, and its mode and deadline hold', () => {
  const { plan } = check(
    [
      layer('project', {
        mode: 'autonomous',
        caps: { push: { command: 'git', argv: [['push']] }, log: { command: 'git', argv: [['log']] } },
      }),
      layer('organisation', { mode: 'cautious', deadline: '1h', deny: ['push'] }),
    ],
    { now },
  );
  expect(plan).toMatchObject({ mode: 'cautious', deadlineMs: 3_600_000, denied: ['push'] });
  expect(Object.keys(plan?.caps ?? {})).toEqual(['log']);
});

test('a lower layer cannot move a root or give a flag set other flags', () => {
  const { plan, mistakes } = check(
    [
      layer(
        'machine',
        { caps: { docs: { fs: 'project', can: ['read'] }, g: { command: 'g', argv: [['log', 'flags(mine)']] } } },
        { ...ROOTS, flags: { mine: ['--ok'] } },
      ),
      layer(
        'local',
        { caps: { g: { command: 'g', argv: [['log', 'flags(mine)']] } } },
        { roots: { project: '/' }, flags: { mine: ['--ok', '--bad'] } },
      ),
    ],
    { now },
  );
  expect(plan?.roots['project']).toBe('.');
  expect(decide(plan as Plan, { cap: 'g', argv: ['log', '--ok'] })).toBe('runs');
  expect(decide(plan as Plan, { cap: 'g', argv: ['log', '--bad'] })).toBe('absent');
  expect(mistakes.map(lineOf)).toEqual([expect.stringContaining('a layer above has this root at another place')]);
});

test('a program asks when a lower layer asks for its directory, and loses one that a lower layer denies', () => {
  const bound = layer(
    'user',
    {
      caps: {
        a: { fs: 'project', can: ['read', 'list'] },
        b: { fs: 'other', can: ['read', 'list'] },
        sh: { shell: 'sandbox', mounts: ['a', 'b'] },
      },
    },
    ROOTS,
  );
  const lower = layer('project', { ask: { a: { fs: 'project', can: ['read', 'list'] } }, deny: ['b'] });
  expect(check([bound, lower], { now }).plan?.caps['sh']).toMatchObject({ how: 'ask', mounts: ['a'] });
  expect(check([layer('organisation', { deny: ['b'] }), bound], { now }).plan?.caps['sh']).toMatchObject({
    mounts: ['a'],
  });
});

test('patterns that are anchored keep the directory of the layer above', () => {
  const bound = layer('user', { caps: { docs: { fs: 'project', can: ['read'], except: ['src/secret'] } } }, ROOTS);
  const { plan, mistakes } = check(
    [bound, layer('project', { caps: { docs: { fs: 'project/src', can: ['read'] } } })],
    { now },
  );
  expect(plan?.caps['docs']).toMatchObject({ directory: { path: '' }, except: ['src/secret'] });
  expect(mistakes).toHaveLength(1);
});

const names = fc.constantFrom('a', 'b', 'c');
const some = <T>(...all: readonly T[]): fc.Arbitrary<T[]> => fc.uniqueArray(fc.constantFrom(...all), { minLength: 1 });
const FOLDER = { fs: 'project', can: ['read'] };
const cap = fc.oneof(
  fc.record({
    fs: fc.constantFrom('project', 'project/x', 'project/x/y', 'other'),
    can: some('read', 'list', 'write'),
  }),
  fc.record({
    command: fc.constantFrom('p', 'q'),
    argv: fc.array(
      fc
        .array(fc.constantFrom('v', 'w', 'v|w'), { minLength: 1, maxLength: 1 })
        .chain((verb) =>
          fc
            .array(fc.constantFrom('x', 'x|y', 'text', 'ref', 'rest', 'flags(git.read)'), { maxLength: 2 })
            .map((rest) => [...verb, ...rest.filter((word, n) => word !== 'rest' || n === rest.length - 1)]),
        ),
      { minLength: 1, maxLength: 3 },
    ),
  }),
  fc
    .record(
      {
        http: fc.constantFrom('https://h/', 'https://h/a/', 'https://h/a/b/', 'https://i/'),
        methods: some('GET', 'POST'),
        secret: fc.constantFrom('K', 'L'),
        auth: fc.constantFrom({ header: 'x-key' }, { query: 'key' }),
        headers: some('x-a', 'x-b'),
        addresses: some('10.0.0.1', '10.0.0.2'),
      },
      { requiredKeys: ['http', 'methods'] },
    )
    .filter(({ secret, auth }) => secret !== undefined || auth === undefined),
  fc.record({ message: fc.constantFrom('mail:x', 'mail:y') }),
  fc.record(
    {
      schedule: fc.constantFrom('p', 'q'),
      gives: some('f', 'g'),
      shortest: fc.constantFrom('1m', '1h', '2h'),
      missed: fc.constantFrom('late', 'never'),
      lasts: fc.constantFrom('10m', '1h', '2h'),
    },
    { requiredKeys: ['schedule', 'gives'] },
  ),
);
const terms = fc.record({ uses: fc.integer({ min: 1, max: 9 }), always_human: fc.boolean() }, { requiredKeys: [] });
const caps = fc.dictionary(
  names,
  fc.tuple(cap, terms).map(([one, more]) => ({ ...one, ...more })),
  { maxKeys: 3 },
);
const session = fc
  .record(
    {
      mode: fc.constantFrom('plan', 'supervised', 'cautious', 'autonomous'),
      caps,
      ask: caps,
      deny: fc.uniqueArray(names, { minLength: 1, maxLength: 1 }),
    },
    { requiredKeys: [] },
  )
  .map((one) => ({
    ...one,
    ...(one.ask && {
      ask: Object.fromEntries(Object.entries(one.ask).filter(([name]) => !Object.hasOwn(one.caps ?? {}, name))),
    }),
  }))
  // A schedule names caps of its session.
  .map((one) =>
    JSON.stringify(one).includes('"schedule"') ? { ...one, caps: { ...one.caps, f: FOLDER, g: FOLDER } } : one,
  );

const CALLS: readonly Call[] = ['a', 'b', 'c'].flatMap((name): Call[] => [
  ...['read', 'list', 'write'].map((method) => ({ cap: name, method })),
  ...['GET', 'POST'].map((method) => ({ cap: name, method })),
  ...[
    ['v'],
    ['w'],
    ['v', 'x'],
    ['w', 'y'],
    ['v', 'z'],
    ['v', 'x', 'z'],
    ['w', '-p'],
    ['v', 'x', '-5'],
    ['v', '-x'],
  ].map((argv) => ({ cap: name, argv })),
  { cap: name },
]);
const RANK = { absent: 0, drafts: 1, asks: 1, runs: 2 } as const;

/** The rights that a plan gives, as things that can be compared: places, prefixes, recipients and uses. */
function beyond(less: Plan, more: Plan): readonly string[] {
  return Object.values(less.caps).flatMap((mine) => {
    const theirs = more.caps[mine.name];
    if (theirs === undefined || theirs.kind !== mine.kind) return [`${mine.name} is new`];
    const wider: string[] = [];
    if ((mine.terms.uses ?? Infinity) > (theirs.terms.uses ?? Infinity)) wider.push(`${mine.name} has more uses`);
    if (mine.kind === 'fs' && theirs.kind === 'fs') {
      const [inner, outer] = [mine, theirs].map(({ directory }) =>
        `${directory.root}/${directory.path}`.replace(/\/?$/, '/'),
      );
      if (!inner?.startsWith(outer ?? '')) wider.push(`${mine.name} is elsewhere`);
    }
    if (
      mine.kind === 'http' &&
      theirs.kind === 'http' &&
      !`${mine.origin}${mine.path}`.startsWith(`${theirs.origin}${theirs.path}`)
    )
      wider.push(`${mine.name} reaches more`);
    if (mine.kind === 'http' && theirs.kind === 'http') {
      const more = ['headers', 'addresses', 'methods'] as const;
      for (const part of more)
        if ((mine[part] as readonly string[]).some((one) => !(theirs[part] as readonly string[]).includes(one)))
          wider.push(`${mine.name} has more ${part}`);
      if (mine.secret !== theirs.secret || JSON.stringify(mine.auth) !== JSON.stringify(theirs.auth))
        wider.push(`${mine.name} sends another secret`);
    }
    if (mine.kind === 'message' && theirs.kind === 'message' && mine.recipient !== theirs.recipient)
      wider.push(`${mine.name} goes elsewhere`);
    if (mine.kind === 'schedule' && theirs.kind === 'schedule') {
      if (mine.agent !== theirs.agent || mine.gives.some((name) => !theirs.gives.includes(name)))
        wider.push(`runs of ${mine.name} are or hold something else`);
      if (
        (mine.shortestMs ?? 0) < (theirs.shortestMs ?? 0) ||
        (mine.lastsMs ?? Infinity) > (theirs.lastsMs ?? Infinity)
      )
        wider.push(`runs of ${mine.name} come oftener, or last longer`);
      if (theirs.missed === 'never' && mine.missed !== 'never') wider.push(`runs of ${mine.name} run late`);
    }
    return wider;
  });
}

test('no layer, order of layers or file of a workspace ever widens what the bound gives', () => {
  let compared = 0;
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.tuple(fc.constantFrom(...layers), session), {
        minLength: 2,
        maxLength: 4,
        selector: ([name]) => name,
      }),
      fc.nat(),
      (given, seed) => {
        const all = given.map(([name, one]) => layer(name, one, ROOTS));
        const sorted = [...all].sort((a, b) => layers.indexOf(a.layer) - layers.indexOf(b.layer));
        const whole = check(all, { now }).plan;
        const shuffled = [...all].sort(
          (a, b) => ((a.file.length * (seed + 1)) % 7) - ((b.file.length * (seed + 1)) % 7),
        );
        expect(check(shuffled, { now }).plan).toEqual(whole);
        if (whole === undefined) return;
        // The layers down to the bound; each one below it may only take away.
        const first = sorted.findIndex(({ text }) => /"(?:caps|ask)":/.test(text));
        if (first < 0) return expect(whole.caps).toEqual({});
        const bound = check(sorted.slice(0, first + 1), { now }).plan as Plan;
        compared += 1;
        expect(beyond(whole, bound)).toEqual([]);
        for (const call of CALLS)
          expect([call, RANK[decide(whole, call)] <= RANK[decide(bound, call)]]).toEqual([call, true]);
      },
    ),
    { numRuns: volume(100, 400) },
  );
  expect(compared).toBeGreaterThan(volume(12, 50));
});

test('the firewall of a layer holds for those below: none turns it off, raises a level, or says that less depends on a cap', () => {
  const cap = (terms: object): object => ({ caps: { docs: { fs: 'project', can: ['read'], ...terms } } });
  const upper = layer('user', cap({ level: 'low', sensitivity: 'high' }), { ...ROOTS, firewall: { mode: 'enforce' } });
  const lower = layer('project', cap({ level: 'high', sensitivity: 'scratch' }), { firewall: { mode: 'observe' } });
  const { plan, mistakes } = check([upper, lower], { now });
  expect(plan).toMatchObject({ firewall: { mode: 'enforce' }, caps: { docs: { terms: { level: 'low', sensitivity: 'high' } } } }); // biome-ignore format: one line
  expect(mistakes.map(lineOf)).toEqual([expect.stringMatching(/firewall\.mode: the layer above enforces/)]);
  // Silence of the layer above is `medium` and `ordinary`.
  const silent = layer('user', cap({}), { ...ROOTS, firewall: { mode: 'observe' } });
  const asked = check([silent, { ...lower, text: lower.text.replace('observe', 'enforce') }], { now }).plan;
  expect(asked).toMatchObject({ firewall: { mode: 'enforce' }, caps: { docs: { terms: { level: 'medium', sensitivity: 'ordinary' } } } }); // biome-ignore format: one line
  const org = check([layer('organisation', {}, { firewall: { mode: 'enforce' } }), silent], { now }).plan;
  expect(org?.firewall).toEqual({ mode: 'enforce' });
});

test('a level without a firewall is a warning, because it has no effect', () => {
  const { plan, mistakes } = check([layer('user', { caps: { docs: { fs: 'project', can: ['read'], level: 'low' } } }, ROOTS)], { now }); // biome-ignore format: one line
  expect(plan).toBeDefined();
  expect(mistakes.map(lineOf)).toEqual([expect.stringMatching(/docs\.level: level has no effect: no layer has a firewall/)]); // biome-ignore format: one line
});

test('hooks of every layer run, and a lower layer puts no other program in the place of one', () => {
  const hook = (digit: string, more: object = {}): object => ({ program: '/srv/check.py', sha256: digit.repeat(64), on: 'pre_call', ...more }); // biome-ignore format: one line
  const upper = layer('user', { caps: { docs: { fs: 'project', can: ['read'] } } }, { ...ROOTS, firewall: { mode: 'enforce', hooks: { check: hook('a', { caps: ['docs'] }) } } }); // biome-ignore format: one line
  const lower = layer('project', {}, { firewall: { mode: 'enforce', hooks: { check: hook('b'), more: hook('c', { within: '2s' }) } } }); // biome-ignore format: one line
  const { plan, mistakes } = check([upper, lower], { now });
  expect(plan?.firewall?.hooks).toEqual([
    { name: 'check', program: '/srv/check.py', sha256: 'a'.repeat(64), on: 'pre_call', caps: ['docs'] },
    { name: 'more', program: '/srv/check.py', sha256: 'c'.repeat(64), on: 'pre_call', withinMs: 2000 },
  ]);
  expect(mistakes.map(lineOf)).toEqual([expect.stringMatching(/the layer above has a hook of that name/)]);
  const wrong = (more: object, holds = false): string =>
    check([layer('user', {}, { ...ROOTS, firewall: { mode: 'observe', hooks: { check: hook('a', more) } } })], { now, holds: () => holds }).mistakes.map(lineOf).join(); // biome-ignore format: one line
  expect(wrong({ caps: ['dogs'] })).toMatch(/there is no cap dogs/);
  expect(wrong({ within: '2m' })).toMatch(/within is more than 1m/);
  expect(wrong({}, true)).toMatch(/lies in the root project, so a session could change it/);
});

test('a lower layer adds no cap whose changes are only looked at afterwards, and may take one out', () => {
  const caps = { docs: { fs: 'project', can: ['read', 'write'] }, src: { fs: 'project/src', can: ['read', 'write'] } };
  const upper = layer('user', { caps }, { ...ROOTS, firewall: { mode: 'enforce', review: ['docs'] } });
  const lower = (review: readonly string[]): Layer => layer('project', { caps }, { firewall: { mode: 'enforce', review } }); // biome-ignore format: one line
  const more = check([upper, lower(['docs', 'src'])], { now });
  expect([more.plan?.firewall, more.mistakes.map(lineOf)]).toEqual([{ mode: 'enforce', review: ['docs'] }, [expect.stringMatching(/only looked at afterwards: that holds/)]]); // biome-ignore format: one line
  expect(check([upper, lower(['src'])], { now }).plan?.firewall).toEqual({ mode: 'enforce' });
  const wrong = check([layer('user', { caps }, { ...ROOTS, firewall: { mode: 'enforce', review: ['dogs'] } })], {
    now,
  });
  expect(wrong.mistakes.map(lineOf)).toEqual([expect.stringMatching(/there is no directory cap dogs/)]);
});

test('a lower layer stops a model that goes round in circles no later than the layer above, or than usual', () => {
  const of = (guardrails?: object): object => ({ firewall: { mode: 'observe', ...(guardrails && { guardrails }) } });
  const both = (above: object | undefined, below: object) =>
    check([layer('user', {}, of(above)), layer('project', {}, of(below))], { now });
  const later = both({ same_method: { warn: 3, stop: 6 } }, { same_method: { warn: 2, stop: 9 } });
  expect(later.plan?.firewall?.guardrails).toEqual({ same_method: { warn: 2, stop: 6 } });
  expect(later.mistakes.map(lineOf)).toEqual([expect.stringMatching(/warns or stops earlier: that holds/)]);
  const off = both(undefined, { same_result: 'off', exact_failure: { warn: 1, stop: 50 } });
  expect(off.plan?.firewall?.guardrails).toEqual({ exact_failure: { warn: 1, stop: 5 } });
  expect(off.mistakes).toHaveLength(2);
  expect(both({ same_result: 'off' }, { same_result: { warn: 1, stop: 900 } }).plan?.firewall?.guardrails).toEqual({ same_result: { warn: 1, stop: 900 } }); // biome-ignore format: one line
  const wrong = check([layer('user', {}, of({ same_method: { warn: 6, stop: 3 } }))], { now });
  expect(wrong.mistakes.map(lineOf)).toEqual([expect.stringMatching(/warn is more than stop/)]);
});

test('one layer says the whole agent card, and none below adds a word to it, or a card that the bound has not', () => {
  const a2a = { name: 'Timmy', url: 'https://timmy.local:9443/a2a' };
  const upper = layer('user', {}, { a2a });
  const lower = layer('project', {}, { a2a: { ...a2a, name: 'Eve', serve: true } });
  const { plan, mistakes } = check([upper, lower], { now });
  expect(plan?.a2a).toEqual({ ...a2a, skills: [], disabled: [], serve: false });
  expect(mistakes.map(lineOf)).toEqual([expect.stringMatching(/a2a: the layer above has a card: that holds/)]);
  const bound = layer('user', { caps: { docs: { fs: 'project', can: ['read'] } } }, ROOTS);
  expect(check([bound, lower], { now }).plan?.a2a).toBeUndefined();
});

test('no folder of skills lies in a root, where a session could change what the card says', () => {
  const holds = (folder: string, file: string): boolean => file.startsWith(`${folder}/`);
  const at = (skills: string): readonly string[] =>
    check([layer('user', {}, { roots: { project: '/p' }, a2a: { skills: [skills] } })], { now, holds }).mistakes.map(lineOf); // biome-ignore format: one line
  expect(at('/p/skills')).toEqual([expect.stringMatching(/a2a\.skills\[0\]: this folder lies in the root project/)]);
  expect(at('/p')).toHaveLength(1);
  expect(at('/srv/skills')).toEqual([]);
});
