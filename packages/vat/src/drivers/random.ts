/**
 * Unpredictable randomness from the operating system. It is passed in where needed, so that a test can replay
 * it.
 */

/** The most that one call of the engine fills. */
const atOnce = 65_536;

/** Returns `bytes` random bytes, fit for secrets. From Web Crypto, which browsers and Node share. */
export function systemRandom(bytes: number): Uint8Array {
  const random = new Uint8Array(bytes);
  for (let at = 0; at < bytes; at += atOnce) crypto.getRandomValues(random.subarray(at, at + atOnce));
  return random;
}
