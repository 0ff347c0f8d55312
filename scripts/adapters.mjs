/**
 * The agent frameworks of Python that the examples of `examples/python` are tried against: a virtual environment under `.toolchain/`.
 *
 * `packages/bridge-python/adapters/adapters.txt` pins every package with its hashes.
 * `packages/bridge-python/tests/adapters_env.py` finds the same one.
 *
 * Plain JavaScript for Node 18.
 */
import { join } from 'node:path';
import { pinned } from './pins.mjs';
import { BRIDGE } from './python.mjs';

const { find, setUp } = pinned({
  kind: 'adapters',
  what: 'the agent frameworks of Python',
  environments: [
    {
      name: 'adapters',
      called: 'the agent frameworks of Python',
      pins: join(BRIDGE, 'adapters', 'adapters.txt'),
      check:
        'import importlib.metadata as m; [m.version(n) for n in ("openai-agents", "langgraph", "smolagents", "mcp")]',
    },
  ],
});

/** Answers why they are missing; undefined when they are there. Installs nothing. */
export const adaptersMissing = () => find('adapters').missing;

/** Answers why they are missing; undefined when they are there. */
export const setUpAdapters = setUp;
