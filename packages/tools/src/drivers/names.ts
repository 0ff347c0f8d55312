/** Chance: names for calls. */
import { randomUUID } from 'node:crypto';

/** A name that no other call has. */
export const newName = (): string => randomUUID();
