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
    file: 'packages/host/src/door/session-meters.ts',
    find: '  connections: 8,\n',
    replace: '',
    tests: ['packages/host/src/crowd.test.ts'],
  },
  {
    name: 'tools-away',
    breaks: 'a call to a program that is gone says that it may have happened',
    file: 'packages/host/src/tools/remote-tools.ts',
    find: 'if (state.gone) throw away();',
    replace: '',
    tests: ['packages/host/src/tools/tool-host.test.ts'],
  },
  {
    name: 'tools-lost',
    breaks: 'a call that was under way when its program was lost looks as if it had not begun',
    file: 'packages/host/src/tools/remote-tools.ts',
    find: "throw (error as { readonly code?: unknown }).code === 'disconnected' ? lost() : error;",
    replace: 'throw error;',
    tests: ['packages/host/src/tools/tool-host.test.ts'],
  },
  {
    name: 'tools-cancel',
    breaks: 'a call of a program goes on after its grant was revoked',
    file: 'packages/host/src/tools/remote-tools.ts',
    find: "signal.addEventListener('abort', cancel, { once: true });",
    replace: '',
    tests: ['packages/host/src/tools/tool-host.test.ts'],
  },
  {
    name: 'tools-names',
    breaks: 'an object of a program takes the place of an offer of the host, in all its grants',
    file: 'packages/host/src/offers.ts',
    find: 'if (fromPeer && this.#names.get(name) === false)',
    replace: 'if (fromPeer === undefined)',
    tests: ['packages/host/src/tools/tool-host.test.ts'],
  },
  {
    name: 'tools-session-again',
    breaks: 'a program that is started again cannot enter its session',
    file: 'packages/host/src/tools/tool-host.ts',
    find: 'return { id, secret: (await session.rotate()).secret, url, again: true };',
    replace: "return { id, secret: '', url, again: true };",
    tests: ['packages/host/src/tools/tool-host.test.ts'],
  },
];
