/** Waiting between two looks, and the bell. */
export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** The bell of a terminal. */
export const ring = (): void => void process.stderr.write('\u0007');
