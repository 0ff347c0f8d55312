/** The mechanisms of a served firewall: its manifest, its hooks and its review. See `mutant.ts`. */
import type { Mutant } from './mutant.ts';

export const MUTANTS: readonly Mutant[] = [
  {
    name: 'firewall-layer',
    breaks: 'a lower layer of a manifest turns enforcing off',
    file: 'packages/manifest/src/plan/rest.ts',
    find: "return own.mode === 'enforce' ? own : wanted;",
    replace: 'return wanted;',
    tests: ['packages/manifest/src/layers.test.ts'],
  },
  {
    name: 'firewall-level-layer',
    breaks: 'a lower layer of a manifest raises the level at which calls go on',
    file: 'packages/manifest/src/plan/narrow.ts',
    find: "order[Math.min(order.indexOf(a ?? 'medium'), order.indexOf(b ?? a ?? 'medium'))]",
    replace: "order[order.indexOf(b ?? a ?? 'medium')]",
    tests: ['packages/manifest/src/layers.test.ts'],
  },
  {
    name: 'firewall-wish',
    breaks: 'a wish list, which an agent can write, says how risky its caps are',
    file: 'packages/manifest/src/wish.ts',
    find: '.filter((key) => cap[key] !== undefined)',
    replace: '.filter(() => false)',
    tests: ['packages/manifest/src/wish.test.ts'],
  },
  {
    name: 'firewall-session-layer',
    breaks: 'a layer of one session says another firewall than that of the host, and nobody is told',
    file: 'packages/cli/src/daemon/served.ts',
    find: 'sameFirewall(read.plan, plan);',
    replace: '',
    tests: ['packages/cli/src/daemon/firewall.test.ts'],
  },
  {
    name: 'firewall-shared-offer',
    breaks: 'the last cap of an object decides how much depends on it',
    file: 'packages/cli/src/daemon/served-firewall.ts',
    find: 'if (known === undefined || order.indexOf(sensitivity) > order.indexOf(known))',
    replace: '',
    tests: ['packages/cli/src/daemon/firewall.test.ts'],
  },
];
