/**
 * No job reaches more than the first shell could, with any nesting of mounts, attenuation, jobs and renames.
 *
 * The model says for each directory on disk what the first shell may do there: write, read, or nothing
 * (another mount hides it). The attackers are jobs of all caps made from it, two at a time, that move,
 * remove, copy and write everything that they can name. Somebody outside also moves covered directories away.
 */
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { FsCap } from '@hob/caps-fs';
import fc from 'fast-check';
import { expect } from 'vitest';
import { volume } from '../../../test/depth.ts';
import { requires } from '../../../test/needs.ts';
import { directory, scratch, shell } from '../test/shell.ts';
import type { ShellCap } from './index.ts';

const test = requires('linux', 'cc', 'userns');

const DEPTH = 4;
/** All paths of one to four names, each `a` or `b`. */
const PATHS: readonly string[] = (function below(path: string, depth: number): string[] {
  if (depth === 0) return [];
  return ['a', 'b'].flatMap((name) => [join(path, name), ...below(join(path, name), depth - 1)]);
})('', DEPTH);
const depthOf = (path: string): number => (path === '' ? 0 : path.split('/').length);
const isIn = (path: string, folder: string): boolean =>
  folder === '' || path === folder || path.startsWith(`${folder}/`);

interface Wanted {
  readonly path: string;
  /** The directory at that path, or another one, which hides it. */
  readonly same: boolean;
  readonly writable: boolean;
}
/** A directory on the disk. */
interface Real {
  readonly folder: string;
  readonly writable: boolean;
}
type Target = string | { readonly place: number; readonly up: number };
interface Act {
  readonly how: string;
  readonly from: Target;
  readonly to: Target;
}
interface Step {
  readonly less?: { readonly of: number; readonly keep: readonly number[]; readonly readOnly: boolean };
  readonly jobs: readonly { readonly cap: number; readonly acts: readonly Act[] }[];
  readonly move?: { readonly place: number; readonly up: number; readonly fill: boolean };
}

const path = fc.constantFrom(...PATHS);
const number = fc.nat({ max: 99 });
/** A path, or often one above a place: those are the ones worth an attack. */
const above = fc.record({ place: number, up: fc.nat({ max: 3 }) });
const from = fc.oneof({ arbitrary: above, weight: 3 }, { arbitrary: path, weight: 1 });
const to = fc.oneof({ arbitrary: fc.constantFrom('z', 'a/z', 'z/z'), weight: 3 }, { arbitrary: from, weight: 1 });
const how = fc.constantFrom('mv -T', 'mv -T', 'mv -T', 'mv', 'cp -r', 'ln -s', 'mkdir -p', 'rm -rf', 'rmdir', 'echo evil >'); // biome-ignore format: one line
const act: fc.Arbitrary<Act> = fc.record({ how, from: fc.oneof({ arbitrary: from, weight: 3 }, { arbitrary: to, weight: 1 }), to }); // biome-ignore format: one line
const step: fc.Arbitrary<Step> = fc.record(
  {
    less: fc.record({ of: number, keep: fc.array(number, { maxLength: 3 }), readOnly: fc.boolean() }),
    jobs: fc.array(fc.record({ cap: number, acts: fc.array(act, { minLength: 1, maxLength: 6 }) }), { minLength: 1, maxLength: 2 }), // biome-ignore format: one line
    move: fc.record({ place: number, up: fc.nat({ max: 3 }), fill: fc.boolean() }),
  },
  { requiredKeys: ['jobs'] },
);
const places = fc.uniqueArray(fc.record({ path, same: fc.boolean(), writable: fc.boolean() }), {
  selector: (wanted) => wanted.path,
  minLength: 1,
  maxLength: 4,
});

/** A folder with all paths that fit beneath `at`, each with a file that names it. */
function plant(at: string): string {
  const folder = scratch();
  for (const each of ['', ...PATHS.filter((one) => depthOf(one) <= DEPTH - depthOf(at))]) {
    mkdirSync(join(folder, each), { recursive: true });
    writeFileSync(join(folder, each, 'f'), `${join(folder, each)}\n`);
  }
  return folder;
}

const look = (folder: string): unknown => ({
  ino: statSync(folder, { bigint: true }).ino,
  names: readdirSync(folder).sort(),
  text: readFileSync(join(folder, 'f'), 'utf8'),
});

/** Every job ends with this: it reads and writes everything that it finds. */
const AFTER = `find /w -type f -name f -exec cat {} +; find /w -type d -exec sh -c 'for d; do echo evil > "$d/evil"; echo evil > "$d/f"; done' sh {} +`; // biome-ignore format: one line

async function attack(wanted: readonly Wanted[], steps: readonly Step[]): Promise<void> {
  const sorted = [...wanted].sort((a, b) => depthOf(a.path) - depthOf(b.path));
  const root = plant('');
  const made: { readonly at: string; readonly folder: string; readonly writable: boolean }[] = [
    { at: '', folder: root, writable: true },
  ];
  /** The path on disk of a path of the world. */
  const real = (of: string): Real => {
    const inner = made.filter(({ at }) => isIn(of, at)).sort((a, b) => depthOf(b.at) - depthOf(a.at))[0];
    if (inner === undefined) throw new Error('there is an outermost mount');
    return { folder: join(inner.folder, of.slice(inner.at.length)), writable: inner.writable };
  };
  /**
   * The directory on the disk that each place covers, and how many directories lie between it and the outer
   * mount.
   */
  const covered: { readonly folder: string; readonly between: number }[] = [];
  for (const { path: at, same, writable } of sorted) {
    const { folder } = real(at);
    const outer = made.filter((one) => isIn(at, one.at)).reduce((most, one) => Math.max(most, depthOf(one.at)), 0);
    covered.push({ folder, between: depthOf(at) - outer - 1 });
    made.push({ at, folder: same ? folder : plant(at), writable });
  }
  const reached = new Map(['', ...PATHS].map((of) => real(of)).map(({ folder, writable }) => [folder, writable]));
  const planted = new Set([root, ...made.map(({ folder }) => folder)]);
  const all = [...planted].flatMap((folder) =>
    ['', ...PATHS]
      .map((of) => join(folder, of))
      .filter((one) => statSync(one, { throwIfNoEntry: false }) !== undefined),
  );
  const kept = new Map(all.filter((folder) => reached.get(folder) !== true).map((folder) => [folder, look(folder)]));
  const hidden = all.filter((folder) => !reached.has(folder));

  const mounts: Record<string, FsCap> = {};
  for (const { at, folder, writable } of made) {
    const cap = await directory(folder);
    mounts[join('/w', at)] = writable ? cap : await cap.readOnly();
  }
  const names = Object.keys(mounts);
  const caps: ShellCap[] = [await shell({ mounts })];
  const capAt = (n: number): ShellCap => caps[n % caps.length] as ShellCap;

  const pathOf = (target: Target): string => {
    if (typeof target === 'string') return `/w/${target}`;
    const { path: at } = sorted[target.place % sorted.length] as Wanted;
    return join('/w', ...at.split('/').slice(0, Math.max(1, depthOf(at) - target.up)));
  };
  const textOf = ({ how, from, to }: Act): string => {
    if (how === 'echo evil >') return `${how} ${pathOf(from)}/f`;
    return ['mkdir -p', 'rm -rf', 'rmdir'].includes(how)
      ? `${how} ${pathOf(from)}`
      : `${how} ${pathOf(from)} ${pathOf(to)}`;
  };
  let moved = 0;
  for (const { less, jobs, move } of steps) {
    if (less !== undefined)
      caps.push(
        await capAt(less.of)
          .attenuate({ mounts: less.keep.map((n) => names[n % names.length] as string), readOnly: less.readOnly })
          .catch(() => capAt(less.of)),
      );
    let putBack = (): void => {};
    if (move !== undefined) {
      const { folder, between } = covered[move.place % covered.length] as (typeof covered)[number];
      let from = folder;
      for (let up = Math.min(move.up, between); up > 0; up -= 1) from = dirname(from);
      moved += 1;
      const to = join(dirname(from), `moved-${moved}`);
      renameSync(from, to);
      if (move.fill) mkdirSync(folder, { recursive: true });
      putBack = () => {
        rmSync(from, { recursive: true, force: true });
        renameSync(to, from);
      };
    }
    const done = await Promise.all(
      jobs.map(({ cap, acts }) =>
        capAt(cap)
          .run(`{ ${acts.map(textOf).join('\n')}\n} 2>/dev/null; { ${AFTER}\n} 2>/dev/null`)
          .catch((error: { code: string }) => error.code),
      ),
    );
    putBack();
    for (const one of done) {
      if (typeof one === 'string') {
        // Nothing that a job does stops the next one.
        expect([one, move]).toEqual([one, expect.anything()]);
        expect(one).toMatch(/^E_MOUNT_(?:STALE|CONFLICT)$/);
      } else {
        const lines = new Set(one.stdout.split('\n'));
        expect(hidden.filter((folder) => lines.has(folder))).toEqual([]);
      }
    }
    for (const [folder, before] of kept) expect([folder, look(folder)]).toEqual([folder, before]);
  }
}

test('with any nesting, attenuation, jobs and renames, no job reaches more than the first shell could', async () => {
  await fc.assert(fc.asyncProperty(places, fc.array(step, { minLength: 1, maxLength: 4 }), attack), {
    numRuns: volume(10, 30),
  });
});
