/** The mechanisms of the top of `packages/host/src`, each with the source text that leaves it out: see `../mutant.ts`. */
import type { Mutant } from '../mutant.ts';

export const MUTANTS: readonly Mutant[] = [
  {
    name: 'host-lockdown',
    breaks: 'a host opens in a process where any module can change what an intrinsic does',
    file: 'packages/host/src/open-host.ts',
    find: '  if (options.withoutLockdown !== true && !isLockedDown())',
    replace: '  if (false)',
    tests: ['packages/host/src/lockdown.test.ts'],
  },
  {
    name: 'door-family',
    breaks: 'a session and its children have as many connections as they like',
    file: 'packages/host/src/session-limits.ts',
    find: '  connections: 8,\n',
    replace: '',
    tests: ['packages/host/src/crowd.test.ts'],
  },
];
