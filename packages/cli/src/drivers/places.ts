/**
 * Where `hob` keeps its state, looks for a manifest and puts its socket, by the XDG base directory specification.
 */
import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { Mistake } from '../line/mistake.ts';
import { type Given, textOf } from '../line/verb.ts';

/** The state that a verb works on: the one that is named, that of `$HOB_STATE`, or the usual one. */
export function stateOf(given: Given): string {
  const named = textOf(given, 'state') ?? (process.env['HOB_STATE'] || undefined);
  return named === undefined ? join(home('XDG_STATE_HOME', '.local/state'), 'hob', 'state') : resolve(named);
}

/** The folder of the runs of agent hosts. No root of a manifest contains the state, lies in it or is it. */
export const agentsFolder = (state: string): string => join(state, 'agents');

/** The folder of the copies of hooks that run. */
export const hooksFolder = (state: string): string => join(state, 'hooks');

/** The place of the key of the secrets: a file outside of the state, or `fd:N`. */
export function secretsKeyOf(given: Given): string {
  const named = textOf(given, 'secretsKey');
  if (named === undefined) return `${stateOf(given)}.secrets.key`;
  return named.startsWith('fd:') ? named : resolve(named);
}

/** The manifest that governs when none is named. */
export const usualManifest = (): string => join(home('XDG_CONFIG_HOME', '.config'), 'hob', 'hob.yaml');

/** The file of the machine for `hob cluster`, when none is named. */
export const usualCluster = (): string => join(home('XDG_CONFIG_HOME', '.config'), 'hob', 'cluster.yaml');

/** The places where manifests are looked for. */
export interface UsualPlaces {
  /** The folder of the machine: `/etc/hob`. */
  readonly machine: string;
  /** The manifest of the user, which a person may have named. */
  readonly user: string;
  readonly isNamed: boolean;
  /** The working directory. */
  readonly here: string;
}

/** Where manifests are looked for. `manifest` is the one that a person named. */
export const usualPlaces = (manifest: string | undefined): UsualPlaces => ({
  machine: '/etc/hob',
  user: manifest ?? usualManifest(),
  isNamed: manifest !== undefined,
  here: process.cwd(),
});

/** A path that a person gave. */
export const absolute = (path: string): string => resolve(path);

/** The same path with the home folder for `~`, where no shell put it. Errors: `Mistake`. */
export const fromHome = (path: string): string => path.replace(/^~(?=\/|$)/, () => homeFolder().home ?? noHome('HOME'));

/**
 * The home folder of this user, if there is one. Without `HOME`, a user that has only a number has none. Some containers
 * have such users. A relative path counts as none. Otherwise the working directory could decide which manifest is used.
 */
export function homeFolder(): { readonly home?: string } {
  try {
    const found = homedir();
    return isAbsolute(found) ? { home: found } : {};
  } catch {
    return {};
  }
}

function home(variable: string, usual: string): string {
  const given = process.env[variable] ?? '';
  // A relative path is to be ignored, says the specification.
  return isAbsolute(given) ? given : join(homeFolder().home ?? noHome(`HOME or ${variable}`), usual);
}

function noHome(variables: string): never {
  throw new Mistake(`this user has no home folder: set ${variables} to an absolute path`);
}
