/**
 * Loaded with `--import`: a file outside the repository can import `@hob/vat` and the other packages.
 *
 * Promise: only names that start with `@hob/` and that are not found the ordinary way are looked up here.
 * They are looked up from inside the package itself: a package may import itself by name, so its `exports` decide and no
 * link in any node_modules is needed.
 * Node keeps the modules without their types and compiled, in `node_modules/`, where all code of others lies. This
 * halves the time that a program needs to start.
 */
import { enableCompileCache, registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';

enableCompileCache(fileURLToPath(new URL('../node_modules/.compile-cache', import.meta.url)));
const packages = new URL('../packages/', import.meta.url);

registerHooks({
  resolve(specifier, context, nextResolve) {
    try {
      return nextResolve(specifier, context);
    } catch (error) {
      const name = /^@hob\/([a-z0-9-]+)(?:\/|$)/.exec(specifier)?.[1];
      const notFound = error?.code === 'ERR_MODULE_NOT_FOUND' || error?.code === 'MODULE_NOT_FOUND';
      if (name === undefined || !notFound) throw error;
      return nextResolve(specifier, { ...context, parentURL: new URL(`${name}/package.json`, packages).href });
    }
  },
});
