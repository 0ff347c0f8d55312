/**
 * AgentDojo, in a virtual environment under `.toolchain/`. `examples/agentdojo/requirements.txt` pins each package with its
 * hashes. AgentDojo itself comes without the SDKs of models that it asks for, which would make 75 packages of 21.
 *
 * Plain JavaScript for Node 18.
 */
import { delimiter, dirname, join } from 'node:path';
import { pinned } from './pins.mjs';
import { BRIDGE } from './python.mjs';
import { ROOT } from './setup.mjs';

export const DOJO = join(ROOT, 'examples', 'agentdojo');

const { find, setUp } = pinned({
  kind: 'agentdojo',
  what: 'AgentDojo',
  environments: [
    {
      name: 'agentdojo',
      called: 'agentdojo 0.1.35',
      pins: join(DOJO, 'requirements.txt'),
      check: 'import importlib.metadata as m; assert m.version("agentdojo") == "0.1.35"',
    },
  ],
});

/** `{python}`, or `{missing}`: why there is none. Looks, installs nothing. */
export const agentdojoPython = () => find('agentdojo');

/** Answers why AgentDojo is missing; undefined when it is there. */
export const setUpAgentdojo = setUp;

/** What `python -m dojo` needs: Hob's package, and the Node that runs the host. */
export function dojoEnvironment(env) {
  return {
    ...env,
    PYTHONPATH: join(BRIDGE, 'src'),
    PYTHONDONTWRITEBYTECODE: '1',
    PATH: [dirname(process.execPath), env.PATH ?? ''].join(delimiter),
  };
}
