/** What Hermes says of paths and of loops, beside caps: the callers of its validator, its file rules, overlapping calls, guards against loops. */
import { linkSync, mkdirSync, mkdtempSync, realpathSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, sep } from 'node:path';
import { type FsCap, openFsCap } from '@hob/caps-fs';
import { counted } from '@hob/revocable';
import { driver, E, openVats } from '@hob/vat';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, onTestFinished } from 'vitest';
import { HERMES_VERSIONS } from '../scripts/hermes.mjs';
import { needs, requires } from '../test/needs.ts';
import { codeOf } from './cap.ts';
import type { Class } from './classes.ts';
import { openShim, type Shim } from './shim.ts';

const test = requires('linux', 'hermes');

/** Below HERMES_HOME, where the paths of each caller start; and whether it looks at once, or only says that it may be looked at. */
const CALLERS = {
  skill_write: { below: 'skills/probe', looks: true },
  skill_view: { below: 'skills/probe', looks: true },
  cron_script: { below: 'scripts', looks: false },
  credential_file: { below: 'tokens', looks: true },
  credential_config: { below: 'tokens', looks: true },
} as const;
type Caller = keyof typeof CALLERS;

/** Hermes allows it and the cap does not, by the code of the cap; each is met below. */
const AGREED: Readonly<Record<string, string>> = {
  PATH_ABSOLUTE: 'a cap knows no path of the machine',
  PATH_ESCAPES: 'a path that goes up is refused, also where it would come back',
  RESOLVED_OUTSIDE: 'a link that leaves is refused, also where it comes back',
  NOT_FOUND:
    'only the path is judged: whether there is anything is found out when it is used; and a write makes no directories',
  NOT_A_FILE: 'only the path is judged; and a final link is not written through',
  NOT_A_DIRECTORY: 'only the path is judged',
  IS_A_DIRECTORY: 'only the path is judged',
};

describe.each(HERMES_VERSIONS)('beside Hermes %s', (version) => {
  let folder: string;
  let shim: Shim;
  let home: string;
  beforeAll(() => {
    if (!needs('hermes')) return;
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'hob-rules-')));
    home = join(folder, 'home', '.hermes');
    for (const { below } of Object.values(CALLERS)) plant(join(home, below), folder);
    writeFileSync(
      join(home, 'skills/probe/SKILL.md'),
      '---\nname: probe\ndescription: to try paths on\n---\n\nA skill.\n',
    );
    shim = openShim(version, folder);
  });
  afterAll(async () => {
    if (!needs('hermes')) return;
    await shim.close();
    rmSync(folder, { recursive: true });
  }, 60_000);

  async function judge(caller: Caller, path: string): Promise<{ class: Class; note: string }> {
    const { below } = CALLERS[caller];
    const root = join(home, below);
    const given = below === 'tokens' && !path.startsWith('/') ? `tokens/${path}` : path;
    const said = await shim.ask<{ allowed?: boolean; raised?: string }>('caller', { caller, path: given });
    const cap = await openFsCap(root);
    const code = await use(cap, caller, path).finally(() => cap.close());
    const allowed = said.allowed === true;
    const outside = leaves(root, path);
    if (code === undefined && outside) return { class: 'cap-escape', note: path };
    if (allowed && outside) return { class: 'hermes-escape', note: path };
    if (allowed === (code === undefined)) return { class: 'equal', note: said.raised ?? '' };
    if (!allowed) return { class: 'hermes-overblock', note: path };
    const reason = AGREED[String(code)];
    return reason === undefined
      ? { class: 'unexplained', note: `${path}: ${code}` }
      : { class: 'agreed', note: reason };
  }

  for (const caller of Object.keys(CALLERS) as Caller[])
    test(`${caller}: no path gets out of the cap, and no difference is unexplained`, async () => {
      const seen: Record<string, number> = {};
      await fc.assert(
        fc.asyncProperty(paths(join(home, CALLERS[caller].below)), async (path) => {
          const judged = await judge(caller, path);
          seen[judged.class] = (seen[judged.class] ?? 0) + 1;
          expect(judged.class, judged.note).not.toMatch(/^(?:cap-escape|unexplained)$/);
        }),
        { numRuns: 40, seed: 13, endOnFailure: false },
      );
      // The validator itself is right, as long as nothing moves: what it lets through does not leave.
      expect(seen['hermes-escape']).toBeUndefined();
      expect(seen['equal']).toBeGreaterThan(0);
    }, 120_000);

  test('judged first and opened later: what moves in between is followed out of the root; a cap looks when it opens', async () => {
    const root = join(home, 'scripts');
    const cap = await openFsCap(root);
    onTestFinished(() => cap.close());
    writeFileSync(join(root, 'job.py'), 'mine');
    expect(await shim.ask('caller', { caller: 'cron_script', path: 'job.py' })).toMatchObject({ allowed: true });
    expect(await cap.readText('job.py')).toBe('mine');
    rmSync(join(root, 'job.py'));
    symlinkSync(join(folder, 'outside.md'), join(root, 'job.py'));
    // Hermes keeps the path that it has allowed, and a scheduler opens that.
    expect(leaves(root, 'job.py')).toBe(true);
    await expect(cap.readText('job.py')).rejects.toMatchObject({ code: 'RESOLVED_OUTSIDE' });
    rmSync(join(root, 'job.py'));
  });

  test("the seed's three file rules: what they name is outside of what was granted; what they do not name is, too", async () => {
    const work = join(folder, 'work');
    const cap = await openFsCap(work);
    onTestFinished(() => cap.close());
    const rules = await shim.ask<{ write_denied: string[]; write_denied_prefixes: string[] }>('file_rules', {});
    const listed = [...rules.write_denied, ...rules.write_denied_prefixes.map((prefix) => `${prefix}x`)];
    const seed = ['authorized_keys', 'id_rsa'].map((name) => `~/.ssh/${name}`);
    const rest = [
      '~/.hermes/config.yaml',
      '~/.hermes/.env',
      '/etc/sudoers',
      '/etc/passwd',
      '/etc/shadow',
      '~/.netrc',
      '~/.git-credentials',
    ];
    const soft = [
      ['cross_profile', join(home, 'profiles/other/skills/s'), 'crosses'],
      ['sandbox_mirror', '/x/sandboxes/docker/t/home/.hermes/config.yaml', 'mirror'],
    ] as const;
    const denied = async (path: string): Promise<boolean> => {
      const said = await shim.ask('write_denied', { path });
      return said['denied'] === true || typeof said['sensitive'] === 'string';
    };
    const outOfReach = async (path: string): Promise<unknown> => {
      // As a model has it, and as it would be after `~` is expanded.
      const full = path.replace(/^~/, join(folder, 'home'));
      return [
        await cap.write(path, 'x').then(() => 'written', codeOf),
        await cap.write(full, 'x').then(() => 'written', codeOf),
      ];
    };
    for (const path of [...listed, ...seed, ...rest]) {
      expect({ path, denied: await denied(path) }).toEqual({ path, denied: true });
      expect(await outOfReach(path)).not.toContain('written');
    }
    for (const [op, path, told] of soft) {
      expect(await shim.ask(op, { path })).toMatchObject({ [told]: true });
      expect(await outOfReach(path)).toEqual(['PATH_ABSOLUTE', 'PATH_ABSOLUTE']);
    }
    // hermes-escape: the seed says that these are denied, and a start file of the shell is as good as a command.
    for (const path of ['~/.bashrc', '~/.zshrc', '~/.config/autostart/x.desktop', '/usr/local/bin/git']) {
      expect({ path, denied: await denied(path) }).toEqual({ path, denied: false });
      expect(await outOfReach(path)).not.toContain('written');
    }
    // hermes-overblock: a name in one's own directory.
    expect(await shim.ask('read_blocked', { path: join(work, '.env') })).toMatchObject({ blocked: true });
    await cap.write('.env', 'MINE=1\n');
    expect(await cap.readText('.env')).toBe('MINE=1\n');
  });

  test('two writes that Hermes would run at once or not: through a cap both are whole, whatever their names are', async () => {
    const work = join(folder, 'work');
    const cap = await openFsCap(work);
    onTestFinished(() => cap.close());
    mkdirSync(join(work, 'a/b'), { recursive: true });
    writeFileSync(join(work, 'a/f'), '');
    linkSync(join(work, 'a/f'), join(work, 'hard'));
    symlinkSync('a', join(work, 'alias'));
    const names = ['a/f', 'hard', 'alias/f', 'a/./f', 'a/b', 'a', 'c'];
    const missed: string[] = [];
    for (const left of names)
      for (const right of names) {
        const { overlap } = await shim.ask<{ overlap: boolean }>('paths_overlap', { left, right });
        if (!overlap && same(join(work, left), join(work, right))) missed.push(`${left} ${right}`);
      }
    // 0.17 compares names. 0.19 follows links, and does not see one file under two names.
    expect(missed).toContain('a/f hard');
    expect(missed.includes('alias/f a/f')).toBe(version === '0.17.0');
    const contents = ['x'.repeat(200_000), 'y'.repeat(200_000)] as const;
    for (const [left, right] of [
      ['a/f', 'alias/f'],
      ['a/f', 'hard'],
      ['a/f', 'a/f'],
    ] as const) {
      const wrote = await Promise.allSettled([cap.write(left, contents[0]), cap.write(right, contents[1])]);
      expect(wrote.map(({ status }) => status)).toContain('fulfilled');
      for (const name of [left, right]) expect(contents).toContain(await cap.readText(name));
    }
  });

  test('a loop: Hermes only warns; where it is told to stop it stops as a grant of so many uses does, but begins again with each turn', async () => {
    const vats = await openVats();
    onTestFinished(() => vats.close());
    const fail = (): Promise<never> => Promise.reject(new Error('no'));
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 8 }), fc.integer({ min: 1, max: 12 }), async (uses, times) => {
        const call = { tool: 'terminal', args: { command: 'make' }, result: 'no', failed: true };
        const loop = async (settings: object, calls: readonly object[]): Promise<number> => {
          const said = await shim.ask<{ calls: { executed?: boolean }[] }>('guardrail', { settings, calls });
          return said.calls.filter(({ executed }) => executed).length;
        };
        const stop = { hard_stop_enabled: true, hard_stop_after: { exact_failure: uses, same_tool_failure: 1000 } };
        const calls = Array.from({ length: times }, () => call);
        let ran = 0;
        const made = driver<{ make(): Promise<void> }>({
          make: async () => {
            ran += 1;
            return await fail();
          },
        });
        const cap = counted(made, uses);
        for (let n = 0; n < times; n += 1)
          await E(cap)
            .make()
            .catch(() => {});
        expect(ran).toBe(Math.min(uses, times));
        expect(await loop(stop, calls)).toBe(ran);
        expect(await loop({}, calls)).toBe(times);
        expect(await loop(stop, [...calls, { turn: true }, ...calls])).toBe(2 * ran);
      }),
      { numRuns: 12, seed: 13 },
    );
  }, 60_000);
});

/** Something to read and to write, links that stay and that leave, one that goes nowhere. */
function plant(root: string, folder: string): void {
  mkdirSync(join(root, 'references/deep'), { recursive: true });
  writeFileSync(join(folder, 'outside.md'), 'not yours\n');
  for (const file of ['references/a.md', 'references/deep/b.md', 'c.md'])
    try {
      writeFileSync(join(root, file), 'mine\n', { flag: 'wx' });
    } catch {
      return; // planted for another caller
    }
  for (const [name, target] of [
    ['references/in.md', 'a.md'],
    ['references/out.md', join(folder, 'outside.md')],
    ['references/up', '../..'],
    ['inside', 'references'],
    ['loop', 'loop'],
    ['dangling', join(folder, 'later.md')],
  ] as const)
    symlinkSync(target, join(root, name));
}

function paths(root: string): fc.Arbitrary<string> {
  const part = fc.constantFrom(
    ...[
      'references',
      'references',
      'inside',
      'deep',
      'a.md',
      'b.md',
      'c.md',
      'in.md',
      'out.md',
      'up',
      'loop',
      'dangling',
    ],
    ...['..', '..', '.', 'missing.md', 'outside.md', '%2e%2e', '..\\', '...'],
  );
  return fc
    .tuple(
      fc.constantFrom('', '', '', '', 'references/', `${root}/`, '/etc/', '~/'),
      fc.array(part, { minLength: 1, maxLength: 4 }),
    )
    .map(([start, parts]) => start + parts.join('/'));
}

/** The code with which a cap of the same root refuses the same path. */
const use = (cap: FsCap, caller: Caller, path: string): Promise<string | undefined> =>
  (caller === 'skill_write' ? cap.write(path, 'x') : cap.readText(path)).then(() => undefined, codeOf);

/** It is there, and not beneath the root. */
function leaves(root: string, path: string): boolean {
  try {
    const real = realpathSync(path.startsWith('/') ? path : join(root, path));
    return real !== root && !real.startsWith(root + sep);
  } catch {
    return false;
  }
}

function same(left: string, right: string): boolean {
  try {
    const [a, b] = [statSync(left), statSync(right)];
    return a.ino === b.ino && a.dev === b.dev;
  } catch {
    return false;
  }
}
