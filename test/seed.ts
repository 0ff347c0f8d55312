/** The seed of everything that a test makes by chance: one and the same, or what `HOB_SEED` says: a number, or `any` for a new one. */
const wanted = process.env['HOB_SEED'] ?? '20261122';

export const chanceSeed: number = wanted === 'any' ? Date.now() % 1_000_000_000 : Number(wanted);
if (!Number.isSafeInteger(chanceSeed))
  throw new Error(`HOB_SEED is a whole number or "any", not ${JSON.stringify(wanted)}`);
