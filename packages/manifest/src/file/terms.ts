/** Times of terms. */

const UNITS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
/** The form of a duration: `15m`, `8h`, `30d`. */
export const DURATION: RegExp = /^\d{1,9}[smhd]$/;
export const LONGEST_MS: number = 366 * UNITS.d;

/** The milliseconds of `15m`, `8h` or `30d`. `text` matches `DURATION`. */
export const milliseconds = (text: string): number =>
  Number(text.slice(0, -1)) * UNITS[text.at(-1) as keyof typeof UNITS];
