/** Parts of a host for the command `hob`, beside the public face. One verb alone uses `@hob/host/workspace`. */
export { leaveMemoryOutOfCores } from '../drivers/cores.ts';
export { writeLines } from '../drivers/export-file.ts';
export { endWithProcess, holderOf } from '../drivers/life.ts';
export { checkPrivateFolder, granterSocket, openPrivateFolder } from '../drivers/private-folder.ts';
export { askSecret, atTerminal, confirm } from '../drivers/prompt.ts';
export { checkRoot } from '../drivers/roots.ts';
export { openSecretFile } from '../drivers/secrets.ts';
export { isElsewhere, isState, makeFolder, openStateDir, readAddress, readStopOrder } from '../drivers/state-dir.ts';
export { numberOf, numberOfSession } from '../state/order.ts';
export { endOf } from './end-of.ts';
export { allOf, grantLine, linesOf, type Page, timeLeft, verdictLines } from './listings.ts';
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
export { stopHost } from './stop-host.ts';
