/**
 * Set-up file of the regimes: a test file closes the vats that it opens.
 *
 * Files share a process. Vats that one leaves open are seen by the next: outside a turn `spawn` then finds several.
 */
import { afterAll } from 'vitest';
import { openedVats } from '../packages/vat/src/vats/which-vats.ts';

afterAll(async () => {
  const left = [...openedVats];
  for (const vats of left) await vats.close();
  if (left.length > 0) throw new Error(`${left.length} vats are still open after the last test: close each one`);
});
