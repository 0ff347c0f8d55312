/** Reads manifests of several layers, and looks at this machine for what they name. */
import { readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import {
  check,
  type Layer,
  type LayerName,
  layers,
  lineOf,
  type Mistake,
  parse,
  type Surroundings,
} from '@hob/manifest';
import { Mistake as UserMistake } from '../line/mistake.ts';
import { boundsFault } from '../plan/bounds.ts';
import { homeFolder, type UsualPlaces } from './places.ts';
import { readRules } from './rules.ts';

/** The manifests that could be read, and a mistake for each that could not. */
export interface ReadLayers {
  readonly given: readonly Layer[];
  readonly lost: readonly Mistake[];
}

type NamedFile = readonly [layer: LayerName, path: string];

/** `named` are `org=FILE`. `file` is the manifest of the layer `as`. Errors: `Mistake`. */
export function readLayers(file: string, named: readonly string[], as: LayerName = 'user'): ReadLayers {
  return readFiles([[as, file], ...namedFiles(named)]);
}

/** Reads `org=FILE` and so on. Errors: `Mistake`. */
function namedFiles(named: readonly string[]): readonly NamedFile[] {
  return named.map((one) => {
    const [, name = '', path = ''] = /^([a-z]+)=(.+)$/s.exec(one) ?? [];
    return [layerNamed(name), path];
  });
}

/** Reads one file for each layer. Errors: `Mistake`. */
function readFiles(files: readonly NamedFile[]): ReadLayers {
  for (const [n, [layer]] of files.entries())
    if (files.findIndex((other) => other[0] === layer) < n)
      throw new UserMistake(`the layer ${layer} is named twice: a layer is one file`, 2);
  const lost: Mistake[] = [];
  const given = files.flatMap(([layer, path]): readonly Layer[] => {
    const read = readRules(path);
    if ('text' in read) return [{ layer, file: path, folder: dirname(realPath(path)), text: read.text }];
    lost.push({ severity: 'error', file: path, line: 1, column: 1, at: '', ...read });
    return [];
  });
  return { given, lost };
}

/** The texts of layers for one session. Errors: `Mistake`, with a line for each file that cannot be read. */
export function layerTexts(
  named: readonly string[],
): readonly { readonly layer: LayerName; readonly file: string; readonly folder: string; readonly text: string }[] {
  const { given, lost } = readFiles(namedFiles(named));
  if (lost.length > 0) throw new UserMistake(lost.map(lineOf).join('\n'));
  return given.map(({ layer, file, folder = '', text }) => ({ layer, file: realPath(file), folder, text }));
}

/** The layers that are served. */
interface ServedLayers extends ReadLayers {
  /** Why a file that was found is not used. */
  readonly said: readonly string[];
}

/**
 * Reads the layers that a person named and those at the usual places. A file of the working directory is used only
 * under a layer that says what a session may hold: it may narrow that, and is no authority of its own. One that lies in
 * a root is a wish list, and no layer. Errors: `Mistake`.
 */
export function servedLayers(places: UsualPlaces, named: readonly string[]): ServedLayers {
  const given = namedFiles(named);
  const isNamed = (layer: LayerName): boolean => given.some(([one]) => one === layer);
  const files: NamedFile[] = [];
  for (const layer of ['organisation', 'machine'] as const) {
    const path = join(places.machine, `${layer}.yaml`);
    // It exists or not; whether it may be read is seen later, so that a locked file is never overlooked.
    if (statOf(path, { orThrow: true }) !== undefined) files.push([layer, path]);
  }
  if (places.isNamed || (!isNamed('user') && statOf(places.user) !== undefined)) files.push(['user', places.user]);
  const upper = readFiles([...files, ...given]);
  if (upper.given.length + upper.lost.length === 0 || (places.isNamed && statOf(places.user) === undefined))
    throw new UserMistake(`there is no manifest ${places.user}: make one with hob init, or name it with --manifest`);
  if (upper.lost.length > 0) return { ...upper, said: [] };
  const here = (['project', 'local'] as const).flatMap((layer): readonly NamedFile[] => {
    const path = join(places.here, layer === 'project' ? 'hob.yaml' : 'hob.local.yaml');
    return !isNamed(layer) && statOf(path) !== undefined && !isOneOf(path, upper.given) ? [[layer, path]] : [];
  });
  return here.length === 0 ? { ...upper, said: [] } : under(upper, here);
}

/** Adds the files of the working directory, as far as they are layers. */
function under(upper: ReadLayers, here: readonly NamedFile[]): ServedLayers {
  const around = surroundings();
  const { plan } = check(upper.given, around);
  const isBound = upper.given.some((source) => {
    const { caps, ask } = parse(source).manifest?.session ?? {};
    return caps !== undefined || ask !== undefined;
  });
  const roots = Object.values(plan?.roots ?? {}).filter((root) => root !== undefined);
  const said: string[] = [];
  const used = here.filter(([layer, path]) => {
    if (roots.some((root) => around.holds?.(root, path) === true)) return false;
    if (!isBound) said.push(`hob: ${path} is not used as the layer ${layer}: no layer above it says what a session may hold. To serve it, name it with --manifest`); // biome-ignore format: one line
    return isBound;
  });
  const read = readFiles(used);
  return { given: [...upper.given, ...read.given], lost: read.lost, said };
}

const isOneOf = (path: string, given: readonly Layer[]): boolean => {
  const here = statOf(path);
  return given.some(({ file }) => {
    const there = statOf(file);
    return here !== undefined && there?.dev === here.dev && there.ino === here.ino;
  });
};

/** The layer of this name. `org` is short for `organisation`. Errors: `Mistake`. */
export function layerNamed(name: string): LayerName {
  const found = layers.find((layer) => layer === (name === 'org' ? 'organisation' : name));
  if (found === undefined) throw new UserMistake(`write LAYER=FILE, where LAYER is one of ${layers.join(', ')}`, 2);
  return found;
}

/**
 * Answers questions about roots from this machine's disk, and about bounds as a host reads them. Folders are compared by
 * device and inode, up the tree.
 */
export const surroundings = (): Omit<Surroundings, 'above' | 'origin'> => ({
  now: Date.now(),
  ...homeFolder(),
  exists: (path) => statOf(path)?.isDirectory() === true,
  holds: (folder, file) => {
    const root = statOf(folder);
    for (let at = dirname(realPath(file)); root !== undefined; at = dirname(at)) {
      const here = statOf(at);
      if (here?.dev === root.dev && here.ino === root.ino) return true;
      if (dirname(at) === at) break;
    }
    return false;
  },
  boundsFault,
});

/** The text of a file that a person named. Errors: `Mistake`. */
export function textOfFile(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    throw new UserMistake(`${path} cannot be read: look at its name and its permissions`);
  }
}

/** With `orThrow` only a file that is not there is undefined. Errors: `Mistake`. */
function statOf(path: string, { orThrow = false } = {}): ReturnType<typeof statSync> | undefined {
  try {
    return statSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (orThrow && code !== 'ENOENT' && code !== 'ENOTDIR')
      throw new UserMistake(`${path} cannot be looked at (${code}): look at the permissions of its folder`);
    return undefined;
  }
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
}
