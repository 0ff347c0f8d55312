/** The mechanisms of `packages/host/src/sharing`, each with the source text that leaves it out: see `../mutant.ts`. */
import type { Mutant } from '../mutant.ts';

export const MUTANTS: readonly Mutant[] = [
  {
    name: 'sturdyref-rotate',
    breaks: 'an old sturdyref opens although the new one was used',
    file: 'packages/host/src/sharing/sturdyrefs.ts',
    find: '    tables.secretOwners.delete(row.secret);',
    replace: '',
    tests: ['packages/host/src/sharing/sturdyrefs.test.ts'],
  },
  {
    name: 'sturdyref-ended',
    breaks: 'a sturdyref lets in although its grant is over',
    file: 'packages/host/src/sharing/sturdyrefs.ts',
    find: '  if (hasEnded(state)) return undefined;',
    replace: '',
    tests: ['packages/host/src/sharing/sturdyrefs.test.ts'],
  },
  {
    name: 'delegate',
    breaks: 'a child is handed what its parent holds, without a forwarder of its own',
    file: 'packages/host/src/sharing/delegation.ts',
    find: 'addToCList(tables, child, as, cap, grant);',
    replace: 'addToCList(tables, child, as, holding.cap, grant);',
    also: [
      {
        file: 'packages/host/src/sharing/delegation.ts',
        find: 'const { grant, cap } = makeChildGrant(',
        replace: 'const { grant, cap, holding } = makeChildGrant(',
      },
    ],
    tests: ['packages/host/src/sharing/delegation.test.ts'],
  },
  {
    name: 'url-time',
    breaks: 'an object URL never runs out',
    file: 'packages/host/src/sharing/urls.ts',
    find: 'vatTime() >= deadline || wallTime() >= wallDeadline;',
    replace: 'boolean => vatTime() + wallTime() < deadline + wallDeadline - 1e15;',
    tests: ['packages/host/src/door/object-call.test.ts'],
  },
  {
    name: 'url-grant',
    breaks: 'an object URL resolves after the grant of its object has ended',
    file: 'packages/host/src/sharing/urls.ts',
    find: 'isExpired(published) || hasEnded(stateOfPetname(tables, session, published.petname));',
    replace: 'isOver(published);',
    tests: ['packages/host/src/dead-ids.test.ts'],
  },
  {
    name: 'url-mint',
    breaks: 'an object URL is made for a grant that has ended',
    file: 'packages/host/src/sharing/urls.ts',
    find: 'if (hasEnded(state))',
    replace: 'if (hasEnded(state) && petname === "")',
    tests: ['packages/host/src/dead-ids.test.ts'],
  },
];
