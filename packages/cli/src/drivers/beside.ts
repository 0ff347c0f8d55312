/**
 * Loads a package that a person installs beside this one, such as `@hob/store-postgres`.
 *
 * npm gives each package that is installed with `-g` its own copy of what it depends on. Two copies of `@hob/vat` do not
 * know each other's stores. So a package that is loaded here gets the copies of this one.
 *
 * Promise: the main thread has one copy of each package of Hob. A package of another version is refused.
 */
import { readFileSync } from 'node:fs';
import { createRequire, registerHooks } from 'node:module';
import { dirname, join } from 'node:path';
import { version } from '@hob/host/line';
import { Mistake } from '../line/mistake.ts';

/** Names are looked up from here. */
const HERE = new URL('./beside.ts', import.meta.url).href;

/**
 * Loads the package `name` with `load`. `needed` is what needs the package, for the error. Errors: `Mistake` (it is not
 * installed, or in another version).
 */
export async function loadBeside<Loaded>(
  name: '@hob/cluster' | '@hob/store-postgres',
  needed: string,
  load: () => Promise<Loaded>,
): Promise<Loaded> {
  const theirs = versionOf(name);
  if (theirs === undefined) throw new Mistake(`${needed} needs one package more, beside this one: npm install -g ${name}`); // biome-ignore format: one line
  if (theirs !== version)
    throw new Mistake(`${name} is installed in version ${theirs}, and hob in ${version}: npm install -g @hob/cli ${name} brings both to the newest one`); // biome-ignore format: one line
  shareCopies();
  return await load();
}

/** Returns the version of an installed package; undefined if it is not installed. */
function versionOf(name: string): string | undefined {
  try {
    // Its entry lies one folder below `package.json`: in `src`, or in `dist`.
    const entry = createRequire(HERE).resolve(name);
    const { version } = JSON.parse(readFileSync(join(dirname(entry), '../package.json'), 'utf8')) as {
      version: string;
    };
    return version;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw error;
    return undefined;
  }
}

let areShared = false;
function shareCopies(): void {
  if (areShared) return;
  areShared = true;
  registerHooks({
    resolve(specifier, { ...context }, next) {
      if (!specifier.startsWith('@hob/')) return next(specifier, context);
      try {
        return next(specifier, { ...context, parentURL: HERE });
      } catch {
        // This package does not depend on it: look it up from its importer. `context` is given again, because Node
        // keeps the `HERE` of the first call.
        return next(specifier, context);
      }
    },
  });
}
