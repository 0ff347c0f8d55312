/**
 * How much a test does: moderate volumes in `npm test`, full ones in `npm run test:deep` and for a mutant that moderate
 * ones did not catch.
 *
 * A file that imports this runs again in the deep run; one that does not promises the same in both, and runs once.
 */
export const deep: boolean = process.env['HOB_DEEP'] === '1';

/** The number for this run: of rounds, kills, random runs. */
export const volume = (moderate: number, full: number): number => (deep ? full : moderate);

/** `inDepth(test)('…', …)`: a test that only the deep run takes. Elsewhere it is not there, so it is no skip. */
export const inDepth = <Register extends (...args: never[]) => unknown>(register: Register): Register =>
  deep ? register : ((() => undefined) as unknown as Register);
