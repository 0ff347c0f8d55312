/** The guards of `revocable`, each with an edit that removes it. See `mutant.ts`. */
import type { Mutant } from './mutant.ts';

export const MUTANTS: readonly Mutant[] = [
  {
    name: 'suspended',
    breaks: 'grants of a store that was put back go on without confirmation',
    file: 'packages/revocable/src/terms/era.ts',
    find: 'export const needsConfirmation = (era: number): boolean => suspended(era);',
    replace: 'export const needsConfirmation = (era: number): boolean => false;',
    tests: ['packages/revocable/src/durable.test.ts'],
  },
  {
    name: 'revoker',
    breaks: 'a revoked grant goes on',
    file: 'packages/revocable/src/grant.ts',
    find: "return bcom(portraitOf({ ...state, mode: 'revoked', alarm: undefined }), stopped());",
    replace: 'return undefined as unknown as Promise<void>;',
    tests: ['packages/revocable/src/grant.test.ts'],
  },
  {
    name: 'limit',
    breaks: 'a grant of N uses admits any number of calls',
    file: 'packages/revocable/src/grant-policy.ts',
    find: '  if (left <= 0) throw exhausted;',
    replace: '',
    tests: ['packages/revocable/src/grant.test.ts'],
  },
  {
    name: 'stack-charge',
    breaks: 'one of two stacked forwarders is charged although the other refuses',
    file: 'packages/revocable/src/forwarder/forward-call.ts',
    find: "const behind = reachedBy === 'near' ? undefined : nearForwarder(inner);",
    replace: 'const behind = undefined;',
    tests: ['packages/revocable/src/stacking.test.ts'],
  },
  {
    name: 'narrow',
    breaks: 'narrowing a grant can widen it',
    file: 'packages/revocable/src/terms/change.ts',
    find: `const earlier = (a: number, b: number): number => Math.min(a, b);
  for (const method of asked.methods ?? [])
    if (limits.methods?.includes(method) === false)
      refuse(\`narrowing only takes away: "\${method.slice(0, 64)}" is not among the methods of this grant\`);`,
    replace: `const earlier = (a: number, b: number): number => b;
  for (const method of asked.methods ?? []) {
  }`,
    tests: ['packages/revocable/src/terms/change.test.ts'],
  },
  {
    name: 'near-charge',
    breaks: 'a counted cap can be called near, and the charge undone',
    file: 'packages/revocable/src/forwarder/forward-call.ts',
    find: "this.near = typeof policy.near === 'function' ? policy.near(state) : policy.near === true;",
    replace: 'this.near = true;',
    also: [
      {
        file: 'packages/revocable/src/forwarder/forward-call.ts',
        find: "if (next !== undefined && reachedBy === 'near') throw byMessageOnly();",
        replace: '',
      },
    ],
    tests: ['packages/revocable/src/revocable.test.ts', 'packages/revocable/src/forwarder/forward.test.ts'],
  },
  {
    name: 'give-back-narrowed',
    breaks: 'a use that was narrowed away comes back',
    file: 'packages/revocable/src/grant.ts',
    find: 'if (limits.narrowed !== undefined && limits.narrowed >= charged) return undefined;',
    replace: '',
    tests: ['packages/host/src/powerbox/cost.test.ts'],
  },
  {
    name: 'refund',
    breaks: 'a call that fails gives its use back',
    file: 'packages/revocable/src/grant-policy.ts',
    find: 'admitCallback: ([state]) => checkLive(state),',
    replace: `admitCallback: ([state]) => checkLive(state),
  after: ([state], _method, { ok }) =>
    ok || state.left === undefined ? undefined : [{ ...state, left: state.left + 1 }],`,
    tests: ['packages/revocable/src/revocable.test.ts'],
  },
  {
    name: 'wrap',
    breaks: 'what comes out of a grant is not wrapped',
    file: 'packages/revocable/src/forwarder/forward-call.ts',
    find: 'return !mayHoldReferences(value) ? value : cross(value, this.#crossing(inward));',
    replace: 'return value;',
    tests: ['packages/revocable/src/revocable.test.ts', 'packages/revocable/src/membrane.test.ts'],
  },
  {
    name: 'late-result',
    breaks: 'a result that comes after the end is passed on',
    file: 'packages/revocable/src/grant-policy.ts',
    find: "if (mode === 'revoked' || groupEnded(limits)) throw revoked;",
    replace: `return;
    if (mode === 'revoked' || groupEnded(limits)) throw revoked;`,
    tests: ['packages/revocable/src/grant.test.ts'],
  },
  {
    name: 'grace',
    breaks: 'results of calls that were made in time are dropped at the deadline',
    file: 'packages/revocable/src/grant-policy.ts',
    find: 'if (isOver(limits, limits.grace)) throw expired;',
    replace: 'if (isOver(limits, 0)) throw expired;',
    tests: ['packages/revocable/src/grant.test.ts', 'packages/revocable/src/revocable.test.ts'],
  },
  {
    name: 'latch',
    breaks: 'a wall clock that is set back revives an expired grant',
    file: 'packages/revocable/src/grant-policy.ts',
    find: "ledgerLine('expire', { grant: state.grant });",
    replace: `ledgerLine('expire', { grant: state.grant });
    if (state.alarm !== undefined) return [{ ...state, mode: 'live' }];`,
    tests: ['packages/revocable/src/grant.test.ts'],
  },
  {
    name: 'wall-only',
    breaks: 'a grant lasts as long as the wall clock says',
    file: 'packages/revocable/src/terms/deadline.ts',
    find: 'const left = vatTime() < deadline + grace && wallTime() < wallDeadline + grace;',
    replace: 'const left = wallTime() < wallDeadline + grace;',
    tests: ['packages/revocable/src/grant.test.ts'],
  },
  {
    name: 'boot',
    breaks: 'a grant of so many ms outlives the boot of the machine',
    file: 'packages/revocable/src/terms/deadline.ts',
    find: '  if (boot !== undefined && boot !== bootId()) return true;',
    replace: '',
    tests: ['packages/revocable/src/durable.test.ts', 'packages/revocable/src/scopes.test.ts'],
  },
  {
    name: 'facet',
    breaks: 'a method that is not in the list passes',
    file: 'packages/revocable/src/terms/methods.ts',
    find: 'if (methods.includes(method)) return;',
    replace: 'return;',
    tests: ['packages/revocable/src/forwarder/forward.test.ts', 'packages/revocable/src/grant.test.ts'],
  },
  {
    name: 'bound-data',
    breaks: 'arguments are compared by their text',
    file: 'packages/revocable/src/terms/bounds.ts',
    find: "if ('is' in bound) return same(bound.is, value);",
    replace: `return 'is' in bound ? String(bound.is) === String(value) : true;
  if ('is' in bound) return same(bound.is, value);`,
    tests: ['packages/revocable/src/terms/bounds.test.ts'],
  },
  {
    name: 'bound-extra',
    breaks: 'arguments after the bounded ones pass',
    file: 'packages/revocable/src/terms/bounds.ts',
    find: `  if (args.length > most)
    throw new CapError(
      'denied',
      \`"\${method.slice(0, 64)}" takes at most \${most} argument\${most === 1 ? '' : 's'} here: leave out the others, or ask for a grant that allows them\`,
    );`,
    replace: '',
    tests: ['packages/revocable/src/terms/bounds.test.ts'],
  },
  {
    name: 'gated-below',
    breaks: 'what comes out of a gated cap is not gated, or the judge is not told its path',
    file: 'packages/revocable/src/gated.ts',
    find: 'if (isData(value)) return value;',
    replace: 'return value;',
    tests: ['packages/revocable/src/gated.test.ts'],
  },
  {
    name: 'gated-data',
    breaks: 'gated arguments may be objects and promises, which can change after approval',
    file: 'packages/revocable/src/gated.ts',
    find: `before: (state, method, args) => {
    if (waits(state, method) && !isData(args))
      throw new CapError(
        'invalid',
        \`"\${shown(method)}" waits for approval here, so its arguments must be data: an object or a promise could change after the approval\`,
      );
  },`,
    replace: 'before: (state, method, args) => {},',
    tests: ['packages/revocable/src/gated.test.ts', 'packages/revocable/src/forwarder/forward.test.ts'],
  },
  {
    name: 'gated',
    breaks: 'a call is sent whatever the judge answered',
    file: 'packages/revocable/src/gated.ts',
    find: 'if (yes === true) return send(args);',
    replace: 'return send(args);',
    tests: ['packages/revocable/src/forwarder/forward.test.ts'],
  },
  {
    name: 'reveal',
    breaks: 'reveal shows what is behind a grant that filters or counts',
    file: 'packages/revocable/src/grant-policy.ts',
    find: '    if (filters) throw opaque();',
    replace: '',
    tests: ['packages/revocable/src/forwarder/reveal.test.ts'],
  },
  {
    name: 'membrane-home',
    breaks: 'a forwarder that comes home is not unwrapped',
    file: 'packages/revocable/src/forwarder/cross.ts',
    find: '  if (own !== undefined && own.state === state) return own.inward === inward ? reference : own.inner;',
    replace: '',
    tests: ['packages/revocable/src/membrane.test.ts'],
  },
  {
    name: 'membrane-identity',
    breaks: 'an object has a new forwarder each time',
    file: 'packages/revocable/src/forwarder/cross.ts',
    find: 'const held = forwardersOf(state, inward).get(reference)?.deref();',
    replace: 'const held = undefined;',
    also: [
      {
        file: 'packages/revocable/src/forwarder/cross.ts',
        find: 'const kept = name === undefined ? undefined : wrapped?.get(row(name, inward));',
        replace: 'const kept = undefined;',
      },
    ],
    tests: ['packages/revocable/src/membrane.test.ts', 'packages/revocable/src/durable.test.ts'],
  },
  {
    name: 'membrane-promise',
    breaks: 'a promise passes through a membrane unwrapped',
    file: 'packages/revocable/src/forwarder/cross.ts',
    find: 'if (inward && wrapped === undefined) return promise;',
    replace: 'return promise;',
    tests: ['packages/revocable/src/membrane.test.ts'],
  },
  {
    name: 'membrane-back',
    breaks: 'a callback passes through a membrane unwrapped',
    file: 'packages/revocable/src/forwarder/cross.ts',
    find: 'if (inward && wrapped === undefined) return reference;',
    replace: 'if (inward) return reference;',
    tests: ['packages/revocable/src/membrane.test.ts'],
  },
  {
    name: 'group-ended',
    breaks: 'a grant whose group has ended lets calls through until it is removed',
    file: 'packages/revocable/src/grant-policy.ts',
    find: '  if (groupEnded(limits)) throw revoked;',
    replace: '',
    tests: ['packages/host/src/sessions/removal.test.ts'],
  },
  {
    name: 'gated-step-texts',
    breaks: 'an approval behind one object counts for another that was reached with a similar argument',
    file: 'packages/revocable/src/gated.ts',
    find: '(isData(arg) ? canonicalText(arg) :',
    replace: '(isData(arg) ? JSON.stringify(arg, (_key, value) => (typeof value === "bigint" ? `${value}n` : value)) :',
    tests: ['packages/revocable/src/gated.test.ts'],
  },
  {
    name: 'gated-step-objects',
    breaks: 'an approval behind one object counts for another that was reached with another object',
    file: 'packages/revocable/src/gated.ts',
    find: "`an object (${freshName('')})`",
    replace: "'an object'",
    tests: ['packages/revocable/src/gated.test.ts'],
  },
  {
    name: 'terms-known',
    breaks: 'a misspelt term of a grant is no limit',
    file: 'packages/revocable/src/terms/terms.ts',
    find: "const taken = takeRecord(given, 'a grant', Object.keys(names), 'term') as Terms;",
    replace:
      "const taken = Object.keys(given).length < 0 ? (takeRecord(given, 'a grant', Object.keys(names), 'term') as Terms) : given;",
    tests: ['packages/revocable/src/options.test.ts'],
  },
];
