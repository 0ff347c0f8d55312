/** Set-up file of the regime `native`: skips, with the reason, where that backend cannot be had. */
import { beforeEach } from 'vitest';
import { nativeKernel } from '../src/drivers/native.ts';

const kernel = nativeKernel();

beforeEach((context) => {
  if (typeof kernel === 'string') context.skip(kernel);
});
