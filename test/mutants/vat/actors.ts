/** The mechanisms of `packages/vat/src/actors`, each with the source text that leaves it out: see `../mutant.ts`. */
import type { Mutant } from '../mutant.ts';

export const MUTANTS: readonly Mutant[] = [
  {
    name: 'vat-pubsub-index',
    breaks: 'each subscriber is searched among all others',
    file: 'packages/vat/src/actors/pubsub.ts',
    find: 'if (index.has(key)) return undefined;',
    replace: 'if (Array.from(rows.entries()).some(([, each]) => each === subscriber)) return undefined;',
    tests: ['packages/vat/src/actors/pubsub.test.ts'],
  },
  {
    name: 'vat-pubsub-upgrade',
    breaks: 'subscribers of an earlier version are not found again',
    file: 'packages/vat/src/actors/pubsub.ts',
    find: 'for (const [row, subscriber] of rows.entries()) index.set(keyOf(subscriber), row);',
    replace: '',
    tests: ['packages/vat/src/actors/pubsub.test.ts'],
  },
  {
    name: 'vat-ward',
    breaks: 'an object that receives an incantation can use it on another one',
    file: 'packages/vat/src/actors/ward.ts',
    find: 'incantation !== undefined && incantation.target === bcom.self',
    replace: 'incantation !== undefined && bcom.self !== undefined',
    tests: ['packages/vat/src/actors/ward.test.ts'],
  },
];
