/**
 * Which way the walk is made on this machine: said by the caller, or by `CAPS_FS_BACKEND`, or found out.
 *
 * Promise: what is asked for by name is what is used, or nothing is. What is found out is tried first, and the answer is
 * never a weaker way: each of them keeps every promise of this package.
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
