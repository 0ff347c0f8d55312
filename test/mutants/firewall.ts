/** The mechanisms of `firewall`, each with the source text that leaves it out: see `mutant.ts`. */
import type { Mutant } from './mutant.ts';

const assessment = ['packages/firewall/src/assess/assessment.test.ts'];
const whole = ['packages/firewall/src/firewall.test.ts'];
const host = ['packages/host/src/firewall.test.ts'];

export const MUTANTS: readonly Mutant[] = [
  {
    name: 'firewall-largest',
    breaks: 'the last factor is the score, so a harmless one hides a dangerous one',
    file: 'packages/firewall/src/assess/assessment.ts',
    find: 'score = Math.max(score, within(factor.risk, 1));',
    replace: 'score = within(factor.risk, 1);',
    tests: assessment,
  },
  {
    name: 'firewall-plugin-confidence',
    breaks: 'a plugin may raise the confidence',
    file: 'packages/firewall/src/assess/assessment.ts',
    find: 'confidence = Math.min(confidence, within(factor.confidence, 0));',
    replace: 'confidence = within(factor.confidence, 0);',
    tests: assessment,
  },
  {
    name: 'firewall-crisis-level',
    breaks: 'a grant of a high level sends messages about a person in danger',
    file: 'packages/firewall/src/assess/decide.ts',
    find: 'if (assessment.crisis_sensitive && leaves(call)) return true;',
    replace: '',
    tests: [...assessment, ...whole],
  },
  {
    name: 'firewall-crisis-thrown',
    breaks: 'a detector that fails lets everything through',
    file: 'packages/firewall/src/firewall.ts',
    find: "return 'its text could not be judged';",
    replace: 'return undefined;',
    tests: whole,
  },
  {
    name: 'firewall-port-fails',
    breaks: 'a firewall that fails lets the call go on',
    file: 'packages/host/src/firewall.ts',
    find: `Object.freeze({
  waits: true,`,
    replace: `Object.freeze({
  waits: false,`,
    tests: host,
  },
  {
    name: 'firewall-child',
    breaks: 'a call of a child session is assessed at each grant above it, too',
    file: 'packages/host/src/firewall.ts',
    find: 'delegated !== true && asks !== true',
    replace: 'asks !== true',
    tests: host,
  },
  {
    name: 'firewall-level-raised',
    breaks: 'an approval may raise the level that was asked',
    file: 'packages/host/src/powerbox/stricter.ts',
    find: "if (mine > most) wider('level', callLevels[most] as string);",
    replace: '',
    tests: host,
  },
  {
    name: 'guard-data',
    breaks: 'a call waits with arguments that may change after the approval',
    file: 'packages/revocable/src/forwarder/forward-call.ts',
    find: 'if (guarding?.judge !== undefined) checkCanWait(method, args);',
    replace: '',
    tests: host,
  },
];
