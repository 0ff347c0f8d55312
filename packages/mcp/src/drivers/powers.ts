/** The powers of a face: a timer, and names that nobody guesses. */
import { randomUUID } from 'node:crypto';
import type { After } from '../face/waits.ts';

export const after: After = (ms, then) => {
  const timer = setTimeout(then, ms);
  return () => clearTimeout(timer);
};

export const newName = (): string => randomUUID();
