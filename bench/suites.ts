/** Every suite of the project, by the name that `npm run bench -- NAME` takes. */
import type { Suite } from './measure.ts';

export const suites: Readonly<Record<string, () => Promise<{ readonly suite: Suite }>>> = {
  durable: () => import('./durable.ts'),
  revocable: () => import('./revocable.ts'),
  vat: () => import('./vat.ts'),
};
