/**
 * `ledger-open.ts FOLDER` opens the store in FOLDER and writes a line. It prints how long it takes until the line is
 * durable, in ms by the clock.
 */
import '../lockdown.ts';
import { ledgerLine, openStore, openVats } from '@hob/vat';

const began = performance.now();
const store = await openStore({ path: process.argv[2] ?? '' });
const vats = await openVats({ store });
await vats.vat('lines').turn(() => ledgerLine('call', { session: 'bench', method: 'first' }));
await vats.settled();
const took = performance.now() - began;
await vats.close();
await store.close();
process.stdout.write(`${took}\n`);
