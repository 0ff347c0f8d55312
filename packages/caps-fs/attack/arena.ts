/**
 * Where the race is run: a root, the outside, and the attacker between them in a process of its own.
 *
 * Promise: `escapes()` counts each thing of the outside that an attempt changed, made or took since the last
 * look, and puts all back as it was.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

export const SECRET = 'outside: nobody with the cap may read this';
export const OUTSIDE_NAME = 'known-only-outside';
/**
 * The files that the arena makes for a lane: one to be removed or moved, one to be edited, one to be appended
 * to, a tree, and one to be moved in.
 */
export type Thing = 'victim' | 'edit' | 'log' | 'tree' | 'own';
/** How many attempts are under way at once. */
export const LANES = 8;

/**
 * Names of one directory, each exchanged with a link to outside by turns. An operation that looks at all of them
 * meets as many swapped names. `d0` is a directory and `e0` its link, `f0` is a file and `g0` its link.
 */
export interface Doors {
  /** The directory that they are in. */
  readonly in: string;
  readonly directories: number;
  readonly files: number;
  /** Where the links are, if not beside them. */
  readonly links?: string;
}

/** The names and their partners, as the attacker takes them. */
export function pairsOf(doors: Doors): readonly (readonly [door: string, link: string])[] {
  const { in: dir, links = dir } = doors;
  const some = (count: number, door: string, link: string): [string, string][] =>
    Array.from({ length: count }, (_, i) => [`${dir}/${door}${i}`, `${links}/${link}${i}`]);
  return [...some(doors.directories, 'd', 'e'), ...some(doors.files, 'f', 'g')];
}

const lanes: readonly number[] = Array.from({ length: LANES }, (_, lane) => lane);

export interface Arena extends Disposable {
  readonly root: string;
  readonly outside: string;
  /** A path of an entry of `dir`, whatever its name is now. The arena holds `dir` open. */
  inDir(name: string): string;
  /** Makes the things of each lane again, inside and outside, and removes leftovers of attempts. */
  prepare(): void;
  /** Makes the directory of the doors again, whole, if it is gone. */
  plant(doors: Doors): void;
  /** Sees to it that one of `file` and `filelink` is a file and one is a link. Otherwise a swap changes nothing. */
  mendPair(): void;
  escapes(): number;
}

export type Swap =
  | readonly ['exchange', ...pairs: string[]]
  | readonly ['relink', link: string, inside: string, outside: string];

export function makeArena(things: readonly Thing[] = [], doors: readonly Doors[] = []): Arena {
  const place = fs.existsSync('/dev/shm') ? '/dev/shm' : os.tmpdir();
  const top = fs.mkdtempSync(path.join(place, 'caps-fs-race-'));
  const root = path.join(top, 'root');
  const outside = path.join(top, 'outside');
  fs.mkdirSync(path.join(root, 'dir'), { recursive: true });
  fs.mkdirSync(path.join(root, 'a/b/c/d/e'), { recursive: true });
  fs.mkdirSync(path.join(outside, 'd/e'), { recursive: true });
  for (const name of ['file', 'other', 'dir/secret', 'a/b/c/d/e/secret'])
    fs.writeFileSync(path.join(root, name), 'inside');
  const secrets = ['secret', 'd/e/secret', OUTSIDE_NAME];
  for (const name of secrets) fs.writeFileSync(path.join(outside, name), SECRET);
  const links = {
    dirlink: outside,
    filelink: `${outside}/secret`,
    clink: outside,
    via: 'dir',
    aim: 'dir',
    aimed: 'other',
    'dir/pointer': 'secret',
    // Its text is not to be read.
    '../outside/pointer': OUTSIDE_NAME,
  };
  for (const [name, target] of Object.entries(links)) fs.symlinkSync(target, path.join(root, name));
  const dir = fs.openSync(path.join(root, 'dir'), fs.constants.O_DIRECTORY);

  const inDir = (name: string): string => `/proc/self/fd/${dir}/${name}`;
  const outsideAt = (name: string): string => path.join(outside, name);
  const isFile = (at: string, size: number): boolean => fs.statSync(at, { throwIfNoEntry: false })?.size === size;
  const targets = (at: (name: string) => string, content: string): void => {
    for (const lane of lanes) {
      for (const thing of things) {
        if (thing === 'own') continue;
        if (thing === 'tree') fs.mkdirSync(at(`tree${lane}`), { recursive: true });
        const file = at(thing === 'tree' ? `tree${lane}/x` : `${thing}${lane}`);
        if (!isFile(file, content.length)) fs.writeFileSync(file, content);
      }
    }
  };
  /** How many of the two are links. They change while we look: only what is seen again and again is so. */
  const linksOfPair = (): number => {
    const look = (): number =>
      ['file', 'filelink'].filter((name) => fs.lstatSync(path.join(root, name)).isSymbolicLink()).length;
    const first = look();
    for (let again = 0; first !== 1 && again < 20; again++) if (look() !== first) return 1;
    return first;
  };
  const mendPair = (): void => {
    // A write that looked at the file and then met the link has replaced the link: the attacker needs one of
    // each.
    const links = linksOfPair();
    if (links === 1) return;
    const fresh = path.join(root, 'moved');
    if (links === 0) fs.symlinkSync(`${outside}/secret`, fresh);
    else fs.writeFileSync(fresh, 'inside');
    fs.renameSync(fresh, path.join(root, 'filelink'));
  };
  const plantLink = (at: string, aim: string): void => {
    if (fs.lstatSync(at, { throwIfNoEntry: false })?.isSymbolicLink()) return;
    tidy(at);
    fs.symlinkSync(aim, at);
  };
  const plant = ({ in: place, directories, files, links = place }: Doors): void => {
    const [dir, fresh] = [path.join(root, place), path.join(root, `fresh-${place}`)];
    if (fs.existsSync(dir)) return;
    // While they are not there the attacker can exchange nothing: all is whole before it has its name.
    fs.mkdirSync(fresh);
    fs.mkdirSync(path.join(root, links === place ? `fresh-${place}` : links), { recursive: true });
    const linkAt = (name: string): string => (links === place ? `${fresh}/${name}` : path.join(root, links, name));
    for (let i = 0; i < directories; i++) {
      fs.mkdirSync(`${fresh}/d${i}`);
      fs.writeFileSync(`${fresh}/d${i}/secret`, 'inside');
      plantLink(linkAt(`e${i}`), outside);
    }
    for (let i = 0; i < files; i++) {
      fs.writeFileSync(`${fresh}/f${i}`, 'inside');
      plantLink(linkAt(`g${i}`), `${outside}/secret`);
    }
    fs.renameSync(fresh, dir);
  };
  for (const some of doors) plant(some);
  const picture = (): Map<string, string> =>
    new Map(
      fs.readdirSync(outside, { recursive: true }).map((entry) => {
        const s = fs.lstatSync(path.join(outside, String(entry)));
        return [String(entry), s.isFile() ? `${s.size} ${s.ino} ${s.mode} ${s.mtimeMs}` : `dir ${s.mode}`];
      }),
    );
  targets(outsideAt, SECRET);
  let before = picture();
  return {
    root,
    outside,
    inDir,
    plant,
    mendPair,
    prepare() {
      targets(inDir, 'inside');
      for (const name of fs.readdirSync(inDir('.')))
        if (/^(?:made|renamed|copied|linked)/.test(name)) tidy(inDir(name));
      for (const name of fs.readdirSync(root)) if (/^(?:moved|stolen)/.test(name)) tidy(path.join(root, name));
      for (const lane of things.includes('own') ? lanes : []) {
        const own = path.join(root, `own${lane}`);
        if (!isFile(own, 'inside'.length)) fs.writeFileSync(own, 'inside');
      }
      for (const some of doors) plant(some);
      mendPair();
    },
    escapes() {
      const now = picture();
      let count = 0;
      for (const [name, what] of now) if (before.get(name) !== what) count += 1;
      for (const name of before.keys()) if (!now.has(name)) count += 1;
      if (count === 0) return 0;
      for (const name of now.keys()) if (!before.has(name)) tidy(outsideAt(name));
      fs.mkdirSync(outsideAt('d/e'), { recursive: true });
      for (const name of secrets) fs.writeFileSync(outsideAt(name), SECRET);
      targets(outsideAt, SECRET);
      before = picture();
      return count;
    },
    [Symbol.dispose]() {
      fs.closeSync(dir);
      fs.rmSync(top, { recursive: true, force: true });
    },
  };
}

function tidy(at: string): void {
  fs.rmSync(at, { recursive: true, force: true });
}

/** Compiles the attacker's program. Disposing the result removes it. */
export function compile(): { readonly program: string } & Disposable {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'caps-fs-attacker-'));
  const program = path.join(dir, 'swap');
  execFileSync('cc', ['-O2', '-o', program, path.join(import.meta.dirname, 'swap.c')]);
  return { program, [Symbol.dispose]: () => fs.rmSync(dir, { recursive: true, force: true }) };
}

/** This process on one core and the attacker on another, where there are two. */
export function coreForAttacker(program: string): number {
  if (os.availableParallelism() < 2) return -1;
  execFileSync(program, ['pin', '0', String(process.pid)]);
  return 1;
}

export interface Attacker {
  /** Ends it. Returns how often it changed something. */
  stop(): Promise<number>;
}

export async function attack(program: string, core: number, arena: Arena, swap: Swap): Promise<Attacker> {
  const [how, ...names] = swap;
  const aims = names.map((name) => name.replace('OUTSIDE', arena.outside));
  const child: ChildProcess = spawn(program, [how, String(core), arena.root, ...aims], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  const ready = Promise.withResolvers<void>();
  const closed = once(child, 'close');
  child.stdout?.on('data', (text) => {
    said += text;
    if (said.includes('ready')) ready.resolve();
  });
  child.once('close', (code) => ready.reject(new Error(`the attacker ended with ${code}`)));
  await ready.promise;
  return {
    async stop() {
      child.kill('SIGTERM');
      const [code] = (await closed) as [number | null];
      if (code !== 0) throw new Error(`the attacker ended with ${code}: its attack was none`);
      return Number(said.split('\n')[1]);
    },
  };
}
