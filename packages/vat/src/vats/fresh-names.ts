/** Names for people and the ledger, which no vat of a store is given twice. They grant nothing. */
import { base32 } from './sturdyrefs.ts';

/** All vats of a process count together, and a random text tells the process from earlier ones. */
export function freshNames(random: (bytes: number) => Uint8Array): () => string {
  const incarnation = base32(random(5));
  let last = 0;
  return () => {
    last += 1;
    return `${last}-${incarnation}`;
  };
}
