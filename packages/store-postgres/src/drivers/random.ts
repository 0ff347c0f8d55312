/** Bytes that no compression makes smaller. */
import { randomBytes } from 'node:crypto';

export const systemBytes = (count: number): Uint8Array => randomBytes(count);
