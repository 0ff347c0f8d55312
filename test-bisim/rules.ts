/**
 * The verdicts of Hermes on one path, one pair of calls, one loop, beside caps: judged one by one, for the tests and for `npm run bisim`.
 *
 * Promise: Hermes only says what it would do; nothing is executed. What the cap world does is done, in a folder of the caller.
 */
import { linkSync, mkdirSync, realpathSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { type FsCap, openFsCap } from '@hob/caps-fs';
import { revocable } from '@hob/revocable';
import { driver, E, type Vats } from '@hob/vat';
import fc from 'fast-check';
import { codeOf } from './cap.ts';
import type { Class } from './classes.ts';
import type { Shim } from './shim.ts';

/** Below HERMES_HOME, where the paths of each caller start; and whether it looks at once, or only says that it may be looked at. */
export const CALLERS = {
  skill_write: { below: 'skills/probe', looks: true },
  skill_view: { below: 'skills/probe', looks: true },
  cron_script: { below: 'scripts', looks: false },
  credential_file: { below: 'tokens', looks: true },
  credential_config: { below: 'tokens', looks: true },
} as const;
export type Caller = keyof typeof CALLERS;

/** Hermes allows it and the cap does not, by the code of the cap; each is met below. */
export const AGREED_RULES: Readonly<Record<string, string>> = {
  PATH_ABSOLUTE: 'a cap knows no path of the machine',
  PATH_ESCAPES: 'a path that goes up is refused, also where it would come back',
  RESOLVED_OUTSIDE: 'a link that leaves is refused, also where it comes back',
  NOT_FOUND:
    'only the path is judged: whether there is anything is found out when it is used; and a write makes no directories',
  NOT_A_FILE: 'only the path is judged; and a final link is not written through',
  NOT_A_DIRECTORY: 'only the path is judged',
  IS_A_DIRECTORY: 'only the path is judged',
};

export interface Said {
  readonly class: Class;
  readonly note: string;
}

/** A folder as HERMES_HOME is, with something below the root of each caller. Answers HERMES_HOME. */
export function plantCallers(folder: string): string {
  const home = join(folder, 'home', '.hermes');
  for (const { below } of Object.values(CALLERS)) plant(join(home, below), folder);
  writeFileSync(
    join(home, 'skills/probe/SKILL.md'),
    '---\nname: probe\ndescription: to try paths on\n---\n\nA skill.\n',
  );
  return home;
}

export async function judgeCaller(shim: Shim, home: string, caller: Caller, path: string): Promise<Said> {
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
  const reason = AGREED_RULES[String(code)];
  return reason === undefined ? { class: 'unexplained', note: `${path}: ${code}` } : { class: 'agreed', note: reason };
}

/** The trees that `judgeFileRule` and `judgeOverlap` are of: a directory with one file under several names. */
export const OVERLAPPING: readonly string[] = ['a/f', 'hard', 'alias/f', 'a/./f', 'a/b', 'a', 'c'];
export function plantOverlapping(work: string): void {
  mkdirSync(join(work, 'a/b'), { recursive: true });
  writeFileSync(join(work, 'a/f'), '');
  linkSync(join(work, 'a/f'), join(work, 'hard'));
  symlinkSync('a', join(work, 'alias'));
}

/** Two writes of one turn: would Hermes run them at once, and what comes of it where a cap does. */
export async function judgeOverlap(shim: Shim, cap: FsCap, work: string, left: string, right: string): Promise<Said> {
  const note = `${left} ${right}`;
  const { overlap } = await shim.ask<{ overlap: boolean }>('paths_overlap', { left, right });
  const one = same(join(work, left), join(work, right));
  const texts = ['x'.repeat(100_000), 'y'.repeat(100_000)] as const;
  const wrote = await Promise.allSettled([cap.write(left, texts[0]), cap.write(right, texts[1])]);
  for (const [n, name] of [left, right].entries()) {
    if (wrote[n]?.status === 'rejected') continue;
    const text = await cap.readText(name);
    if (text !== texts[0] && text !== texts[1]) return { class: 'cap-escape', note: `${note}: ${name} is neither` };
  }
  if (one && !overlap) return { class: 'hermes-escape', note: `${note}: two names of one file, written at once` };
  if (!one && overlap) return { class: 'hermes-overblock', note };
  return { class: 'equal', note };
}

/** A path of the lists, or none: whether Hermes denies writing there, and whether a cap of `work` gets there. */
export async function judgeFileRule(shim: Shim, cap: FsCap, folder: string, path: string): Promise<Said> {
  const full = path.replace(/^~/, join(folder, 'home'));
  const work = join(folder, 'work');
  if (full.startsWith(`${work}/`)) {
    const { blocked } = await shim.ask<{ blocked: boolean }>('read_blocked', { path: full });
    const name = full.slice(work.length + 1);
    const code = await cap.readText(name).then(() => undefined, codeOf);
    if (code !== undefined) return { class: 'unexplained', note: `${path}: ${code}` };
    return { class: blocked ? 'hermes-overblock' : 'equal', note: path };
  }
  const said = await shim.ask('write_denied', { path });
  const denied = said['denied'] === true || typeof said['sensitive'] === 'string';
  const written = async (name: string): Promise<boolean> =>
    await cap.write(name, 'x').then(
      () => true,
      () => false,
    );
  if ((await written(path)) || (await written(full))) return { class: 'cap-escape', note: path };
  return { class: denied ? 'equal' : 'hermes-escape', note: path };
}

/** The same failing call again and again, under a grant of so many uses and under Hermes' guard that is told to stop after as many. */
export async function judgeLoop(shim: Shim, vats: Vats, uses: number, times: number): Promise<Said> {
  const call = { tool: 'terminal', args: { command: 'make' }, result: 'no', failed: true };
  const loop = async (settings: object, calls: readonly object[]): Promise<number> => {
    const said = await shim.ask<{ calls: { executed?: boolean }[] }>('guardrail', { settings, calls });
    return said.calls.filter(({ executed }) => executed).length;
  };
  const stop = { hard_stop_enabled: true, hard_stop_after: { exact_failure: uses, same_tool_failure: 1000 } };
  const calls = Array.from({ length: times }, () => call);
  let ran = 0;
  const fail = (): Promise<never> => Promise.reject(new Error('no'));
  const made = driver<{ make(): Promise<void> }>({
    make: async () => {
      ran += 1;
      return await fail();
    },
  });
  const cap = await vats.vat('loops').turn(() => revocable(made, { uses }).cap);
  for (let n = 0; n < times; n += 1)
    await E(cap)
      .make()
      .catch(() => {});
  const [told, default_, twice] = [
    await loop(stop, calls),
    await loop({}, calls),
    await loop(stop, [...calls, { turn: true }, ...calls]),
  ];
  const note = `${times} calls of ${uses}: ${ran} by the cap; Hermes ${default_}, told to stop ${told}, over two turns ${twice}`;
  if (ran > uses) return { class: 'cap-escape', note };
  if (ran !== Math.min(uses, times) || told !== ran) return { class: 'unexplained', note };
  return { class: default_ > uses || twice > uses ? 'hermes-escape' : 'equal', note };
}

/** Something to read and to write, links that stay and that leave, one that goes nowhere. */
export function plant(root: string, folder: string): void {
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

export function callerPaths(root: string): fc.Arbitrary<string> {
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
export function leaves(root: string, path: string): boolean {
  try {
    const real = realpathSync(path.startsWith('/') ? path : join(root, path));
    return real !== root && !real.startsWith(root + sep);
  } catch {
    return false;
  }
}

export function same(left: string, right: string): boolean {
  try {
    const [a, b] = [statSync(left), statSync(right)];
    return a.ino === b.ino && a.dev === b.dev;
  } catch {
    return false;
  }
}
