/**
 * Chooses the backend: the one that the caller names, or `CAPS_FS_BACKEND`, or the best one that works on
 * this machine.
 *
 * Promise: a backend that is asked for by name is used, or opening fails. Without a name `native` is tried
 * first, then `proc`. Neither is weaker: both keep every promise of this package.
 */
import process from 'node:process';
import { refusal } from '../base/errors.ts';
import type { Kernel } from '../base/kernel.ts';
import { nativeKernel } from './native.ts';
import { nodeKernel } from './node-fs.ts';

export type Backend = Kernel['backend'];

export function chooseBackend(asked: unknown = process.env['CAPS_FS_BACKEND'] || undefined): Kernel {
  if (asked !== undefined && asked !== 'proc' && asked !== 'native') {
    throw refusal('invalid', 'backend is proc or native');
  }
  if (asked !== 'proc') {
    const native = nativeKernel();
    if (typeof native !== 'string') return native;
    if (asked === 'native') throw refusal('UNSUPPORTED', native);
  }
  const kernel = nodeKernel();
  if (!kernel.supported) throw refusal('UNSUPPORTED', 'this needs Linux with /proc mounted');
  return kernel;
}
