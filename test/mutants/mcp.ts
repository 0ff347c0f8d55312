/** The mechanisms of `mcp`, each with the source text that leaves it out: see `mutant.ts`. */
import type { Mutant } from './mutant.ts';

const tests = ['packages/mcp/src/face/face.test.ts'];

export const MUTANTS: readonly Mutant[] = [
  {
    name: 'mcp-unknown-argument',
    breaks: 'an argument that no verb has is ignored, so a misspelt limit would be no limit',
    file: 'packages/mcp/src/verbs/arguments.ts',
    find: 'if (!Object.hasOwn(properties, name))',
    replace: 'if (name === undefined)',
    tests,
  },
  {
    name: 'mcp-argument-type',
    breaks: 'an argument of another type is sent to the cap, and spends a use',
    file: 'packages/mcp/src/verbs/arguments.ts',
    find: 'if (type !== undefined && !FITS[type](value))',
    replace: 'if (type !== undefined && value === undefined)',
    tests,
  },
];
