/** Parts of a host for the verbs of `hob` that open a host or its store. One verb alone uses `@hob/host/workspace`. */
export { leaveMemoryOutOfCores } from '../drivers/cores.ts';
export { writeLines } from '../drivers/export-file.ts';
export { endWithProcess } from '../drivers/life.ts';
export { openPrivateFolder } from '../drivers/private-folder.ts';
export { checkRoot } from '../drivers/roots.ts';
export { openSecretFile } from '../drivers/secrets.ts';
export { isElsewhere, isState, makeFolder, openStateDir, readStopOrder } from '../drivers/state-dir.ts';
export { numberOf, numberOfSession } from '../state/order.ts';
export { requireSandbox } from './sandboxed.ts';
export {
  type AtRest,
  checkpointsOf,
  exportAtRest,
  type Retention,
  retainAtRest,
  verifyAtRest,
} from './shared/at-rest.ts';
export { type Minting, mintSturdyref, rotateSturdyref, type SecretTo, secretOutlet } from './shared/sturdyrefs.ts';
