/**
 * Parts of a host for programs that only talk to a host, beside the public face (`@hob/host/client`). Nothing here
 * opens a store, so the verbs of a granter can be bundled with all that they load.
 */
export { CallEnds } from '@hob/vat/store';
export { holderOf } from '../drivers/life.ts';
export { checkPrivateFolder, granterSocket } from '../drivers/private-folder.ts';
export { askSecret, atTerminal, confirm } from '../drivers/prompt.ts';
export { readAddress } from '../drivers/state-dir.ts';
export { card } from '../powerbox/card.ts';
export { endOf } from './end-of.ts';
export { allOf, conditionsText, grantLine, linesOf, type Page, timeLeft, verdictLines } from './listings.ts';
export { stopHost } from './stop-host.ts';
