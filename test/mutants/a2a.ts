/** The mechanisms of `packages/a2a`, each with the source text that leaves it out: see `mutant.ts`. */
import type { Mutant } from './mutant.ts';

const cards = ['packages/a2a/src/card.test.ts'];
const verb = ['packages/cli/src/verbs/manifest/card-verb.test.ts'];

export const MUTANTS: readonly Mutant[] = [
  {
    name: 'a2a-valid',
    breaks: 'a card that is not valid is made all the same',
    file: 'packages/a2a/src/card.ts',
    find: 'if (errors.length > 0) throw',
    replace: 'if (false) throw',
    tests: cards,
  },
  {
    name: 'a2a-earlier',
    breaks: 'a card of A2A 0.x passes for one of 1.0',
    file: 'packages/a2a/src/validate.ts',
    find: 'if (Object.hasOwn(own, key)) errors.push(',
    replace: 'if (false) errors.push(',
    tests: cards,
  },
  {
    name: 'a2a-once',
    breaks: 'a skill of another folder takes the place of one with its id',
    file: 'packages/a2a/src/card.ts',
    find: 'if (!byId.has(skill.id)) byId.set',
    replace: 'byId.set',
    tests: cards,
  },
  {
    name: 'a2a-disabled',
    breaks: 'a skill that is switched off is on the card',
    file: 'packages/a2a/src/skills.ts',
    find: 'if ([name, id, folder].some((one) => disabled.includes(one))) return [];',
    replace: '',
    tests: cards,
  },
  {
    name: 'a2a-links',
    breaks: 'a link leads out of the folder of skills',
    file: 'packages/a2a/src/drivers/skill-files.ts',
    find: 'entry.isFile() && entry.name',
    replace: 'entry.name',
    tests: cards,
  },
  {
    name: 'a2a-covered',
    breaks: 'a card is called signed although fields of 0.x, which no signature covers, say something else',
    file: 'packages/a2a/src/drivers/sign.ts',
    find: 'if (validateAgentCard(card).length > 0) return false;',
    replace: '',
    tests: cards,
  },
  {
    name: 'a2a-serve',
    breaks: 'a host serves its card although its manifest does not say so',
    file: 'packages/cli/src/daemon/served/card.ts',
    find: 'if (a2a?.serve !== true) return {};',
    replace: 'if (a2a === undefined) return {};',
    tests: verb,
  },
  {
    name: 'a2a-lower',
    breaks: 'a layer below has a card that the layers above did not give',
    file: 'packages/manifest/src/plan/rest/layered.ts',
    find: "drop(['a2a'], own === undefined",
    replace: "if (own === undefined) return wanted;\n  drop(['a2a'], own === undefined",
    tests: ['packages/manifest/src/layers.test.ts'],
  },
];
