/**
 * Parts of a host for a program that only talks to one, beside the public face (`@hob/host/client`). Nothing here opens
 * a store, so a verb of a granter is bundled with what it loads.
 */
export { CallEnds } from '@hob/vat/store';
export { holderOf } from '../drivers/life.ts';
export { checkPrivateFolder, granterSocket } from '../drivers/private-folder.ts';
export { askSecret, atTerminal, confirm } from '../drivers/prompt.ts';
export { readAddress } from '../drivers/state-dir.ts';
export { card } from '../powerbox/card.ts';
export { endOf } from './end-of.ts';
export { allOf, grantLine, linesOf, type Page, timeLeft, verdictLines } from './listings.ts';
export { stopHost } from './stop-host.ts';
