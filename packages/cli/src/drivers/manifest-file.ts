/**
 * Compiles the manifests that govern, and finds the real folders of their roots.
 *
 * Promise: no root is, contains or lies inside the state, the code, a manifest or the ledger's copy of the host. No root
 * has a link on the way to them.
 */
import { realpathSync } from 'node:fs';
import { checkRoot } from '@hob/host/programs';
import { check, type Layer, type LayerName, lineOf, layers as ORDER, type Plan } from '@hob/manifest';
import { Mistake } from '../line/mistake.ts';
import type { RealRoots } from '../plan/directories.ts';
import { unusedParts } from '../plan/unused.ts';
import { servedLayers, surroundings } from './layers.ts';
import type { UsualPlaces } from './places.ts';

/** The manifests of a host, compiled, with what was warned about. */
export interface ReadManifest {
  /** The file that people call the manifest: that of the user, or the highest one. */
  readonly file: string;
  readonly layers: readonly { readonly layer: LayerName; readonly file: string }[];
  /** The real path and the text of each, as they were read. */
  readonly texts: readonly { readonly file: string; readonly text: string }[];
  /** The path of each manifest, as it was named or found. It may lead through links. */
  readonly paths: readonly string[];
  readonly plan: Plan;
  readonly warnings: readonly string[];
  /** Compiles the same manifests with layers below them. Errors: `Mistake`. */
  readonly narrowed: (below: readonly Layer[]) => { readonly plan: Plan; readonly warnings: readonly string[] };
}

/** Errors: `Mistake`, with a line for each mistake of a manifest. */
export function readManifest(places: UsualPlaces, named: readonly string[] = []): ReadManifest {
  const { given, lost, said } = servedLayers(places, named);
  if (lost.length > 0) throw mistaken(lost.map(lineOf));
  // A date that was in the future when the host began is a date for its sessions, too.
  const around = surroundings();
  const compiled = (all: readonly Layer[]): { readonly plan: Plan; readonly warnings: readonly string[] } => {
    const { plan, mistakes } = check(all, around);
    const lines = [...mistakes, ...unusedParts(all)].map(lineOf);
    if (plan === undefined) throw mistaken(lines);
    return { plan, warnings: lines };
  };
  const { plan, warnings } = compiled(given);
  const layers = [...given]
    .sort((a, b) => ORDER.indexOf(a.layer) - ORDER.indexOf(b.layer))
    .map(({ layer, file }) => ({ layer, file: realPath(file) }));
  const [first] = layers;
  return {
    file: layers.find(({ layer }) => layer === 'user')?.file ?? first?.file ?? '',
    layers,
    texts: given.map(({ file, text }) => ({ file: realPath(file), text })),
    paths: given.map(({ file }) => file),
    plan,
    warnings: [...said, ...warnings],
    narrowed(below) {
      const taken = below.find(({ layer }) => isAbove(layer) || given.some((one) => one.layer === layer));
      if (taken !== undefined)
        throw new Mistake(`a session cannot have another layer ${taken.layer}: it can have project, local and flags that hob serve has not`); // biome-ignore format: one line
      return compiled([...given, ...below]);
    },
  };
}

/** Layers that may say what a session holds. Only the start of the host reads them. */
const isAbove = (layer: LayerName): boolean => layer === 'organisation' || layer === 'machine' || layer === 'user';

const mistaken = (lines: readonly string[]): Mistake => new Mistake(`the manifest has mistakes:\n${lines.join('\n')}`);

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    throw new Mistake(`there is no manifest ${path}: make one with hob init, or name it with --manifest`);
  }
}

/** The real path of each root. `own` are the host's folders and files. Errors: `Mistake`. */
export function realRoots(plan: Plan, own: readonly string[]): RealRoots {
  const roots: Record<string, string> = {};
  for (const [name, path] of Object.entries(plan.roots)) {
    if (path === undefined) continue;
    try {
      roots[name] = checkRoot(path, own);
    } catch (error) {
      const { code } = error as { readonly code?: string };
      throw new Mistake(
        code === 'E_ROOT_CONTAINS_HOST_STATE'
          ? `roots.${name}: this folder is, contains or lies inside the state, the code, the manifest or the ledger of the host, or has a link on the way to them: choose another root, or move them` // biome-ignore format: one line
          : `roots.${name}: there is no folder ${path} that may be read: make it, or name another`,
      );
    }
  }
  return roots;
}
