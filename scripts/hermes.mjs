/**
 * The real Hermes, for the tests that compare with it: two virtual environments under `.toolchain/`, one per version.
 *
 * `packages/bridge-python/hermes/VERSION.txt` pins every package with its hashes. 0.19.0 is whole (with MCP, ACP and what the tests of
 * the bridge need); of 0.17.0, the version that the seeds describe, there is what its verdicts and its own tools import.
 *
 * Promise: that of `pins.mjs`. Only tests call it: `npm start` installs nothing of this.
 * `packages/bridge-python/tests/hermes_env.py` finds the same ones.
 *
 * Plain JavaScript for Node 18.
 */
import { join } from 'node:path';
import { pinned } from './pins.mjs';
import { BRIDGE } from './python.mjs';

export const HERMES_VERSIONS = ['0.17.0', '0.19.0'];

const { find, setUp } = pinned({
  kind: 'hermes',
  what: 'Hermes',
  environments: HERMES_VERSIONS.map((version) => ({
    name: `hermes-${version}`,
    called: `hermes-agent ${version}`,
    pins: join(BRIDGE, 'hermes', `${version}.txt`),
    check: `import importlib.metadata as m, yaml; assert m.version("hermes-agent") == "${version}"`,
  })),
});

/** `{python}`: the interpreter that has this version of Hermes; or `{missing}`: why there is none. Installs nothing. */
export const hermesPython = (version) => find(`hermes-${version}`);

/** Answers why Hermes is missing; undefined when both versions are there. */
export const setUpHermes = setUp;
