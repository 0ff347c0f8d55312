/** The package manager, with its version. */
export const PNPM: string;
