/** The timer and the chance of a judge runner. */
import { randomBytes } from 'node:crypto';
import type { JudgePowers } from '../judge.ts';

/** Of this process. The timer keeps no process alive. */
export const judgePowers = (): JudgePowers => ({
  after(ms, then) {
    const timer = setTimeout(then, ms).unref();
    return () => clearTimeout(timer);
  },
  newMark: () => randomBytes(12).toString('hex'),
});
