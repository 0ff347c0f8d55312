/** The mechanisms of `packages/vat/src/vats`, each with the source text that leaves it out: see `../mutant.ts`. */
import type { Mutant } from '../mutant.ts';

export const MUTANTS: readonly Mutant[] = [
  {
    name: 'sweep-at-open',
    breaks: 'what an earlier process left behind stays until somebody asks',
    file: 'packages/vat/src/vats/vats.ts',
    find: 'if (this.#sweptAtOpen || this.#objectStore === undefined) return;',
    replace: 'return;',
    tests: ['packages/vat/src/durable/sweep.test.ts'],
  },
  {
    name: 'first',
    breaks: 'messages and alarms of the last process go on before what was to run first',
    file: 'packages/vat/src/vats/vats.ts',
    find: 'if (first === undefined) this.resume();',
    replace: 'this.resume();',
    tests: ['packages/vat/src/durable/first.test.ts'],
  },
  {
    name: 'durable-undo',
    breaks: 'what a failed commit did not write stays in memory',
    file: 'packages/vat/src/vats/vats.ts',
    find: '      this.#objectStore?.reload(keys);',
    replace: '',
    tests: ['packages/vat/crash/faults.test.ts'],
  },
  {
    name: 'durable-reopen',
    breaks: 'after one failed commit nothing is committed any more',
    file: 'packages/vat/src/vats/durable-parts.ts',
    find: `      // A line that the ledger wrote by itself failed earlier. No turn was lost with it, so reopen.
      if (engine.failed) engine.reopen();`,
    replace: '',
    also: [
      {
        file: 'packages/vat/src/vats/vats.ts',
        find: '      if (engine?.failed === true) engine.reopen();',
        replace: '',
      },
    ],
    tests: ['packages/vat/crash/faults.test.ts'],
  },
  {
    name: 'vat-one-line',
    breaks: 'console.log of a vat prints its inside',
    file: 'packages/vat/src/vats/vat.ts',
    find: '    Object.defineProperty(LiveVat.prototype, shown, { value: show });\n',
    replace: '',
    tests: ['packages/vat/src/vats/development.test.ts'],
  },
];
