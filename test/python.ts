/** The interpreter that has what `packages/bridge-python` needs, for tests of other packages. */
export { BRIDGE, setUpPython } from '../scripts/python.mjs';
