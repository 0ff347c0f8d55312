/** The mechanisms of `revocable`, each with the source text that leaves it out: see `mutant.ts`. */
import type { Mutant } from './mutant.ts';

export const MUTANTS: readonly Mutant[] = [
  {
    name: 'suspended',
    breaks: 'limited grants of a store that was put back go on by themselves',
    file: 'packages/revocable/src/terms/era.ts',
    find: 'export const waitsIn = (era: number): boolean => suspended(era);',
    replace: 'export const waitsIn = (era: number): boolean => false;',
    tests: ['packages/revocable/src/durable.test.ts'],
  },
  {
    name: 'revoker',
    breaks: 'a revoked grant goes on',
    file: 'packages/revocable/src/grant.ts',
    find: `ledgerLine('revoke', { ...about, grant, why });
        if (wake !== undefined) cancelWake(wake);`,
    replace: `ledgerLine('revoke', { ...about, grant, why });
        return undefined as unknown as Promise<void>;
        if (wake !== undefined) cancelWake(wake);`,
    also: [
      {
        file: 'packages/revocable/src/grant.ts',
        find: `const stopped = (): Promise<void> => cut(grant, revoked);
        if (mode === 'revoked') return stopped();`,
        replace: `const stopped = (): Promise<void> => cut(grant, revoked);
        return stopped();`,
      },
    ],
    tests: ['packages/revocable/src/grant.test.ts'],
  },
  {
    name: 'limit',
    breaks: 'a grant of N uses is one of any number',
    file: 'packages/revocable/src/aliases/counted.ts',
    find: '  if (left <= 0) throw exhausted;',
    replace: '',
    tests: ['packages/revocable/src/grant.test.ts'],
  },
  {
    name: 'stack-charge',
    breaks: 'of stacked forwarders one is charged although another refuses',
    file: 'packages/revocable/src/forwarder/forward.ts',
    find: 'const behind = asked ? forwarderNear(inner) : undefined;',
    replace: 'const behind = undefined;',
    tests: ['packages/revocable/src/stacking.test.ts'],
  },
  {
    name: 'narrow',
    breaks: 'to narrow can widen',
    file: 'packages/revocable/src/terms/change.ts',
    find: `const earlier = (a: number, b: number): number => Math.min(a, b);
  for (const method of asked.methods ?? [])
    if (limits.methods?.includes(method) === false)
      refuse(\`to narrow only takes away: "\${method.slice(0, 64)}" is not among the methods of this grant\`);`,
    replace: `const earlier = (a: number, b: number): number => b;
  for (const method of asked.methods ?? []) {
  }`,
    tests: ['packages/revocable/src/terms/change.test.ts'],
  },
  {
    name: 'near-charge',
    breaks: 'a counted cap can be called near, and the charge undone',
    file: 'packages/revocable/src/forwarder/forward.ts',
    find: "const near = typeof policy.near === 'function' ? policy.near(state) : policy.near === true;",
    replace: 'const near = true;',
    also: [
      {
        file: 'packages/revocable/src/forwarder/forward.ts',
        find: `    if (next !== undefined && !asked)
      throw new CapError('not-callable', 'this cap is reached by message only: use E(cap)');`,
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
    file: 'packages/revocable/src/grant.ts',
    find: `after: ([grant, limits], method, outcome) => {
    if (limits.audited) tellOutcome(grant, method, outcome);
  },`,
    replace: `after: ([grant, limits, mode, left, wake, members], method, outcome) => {
    if (limits.audited) tellOutcome(grant, method, outcome);
    if (!outcome.ok && left !== undefined) return [grant, limits, mode, left + 1, wake, members];
  },`,
    also: [
      {
        file: 'packages/revocable/src/grant.ts',
        find: `const rules = forwarderStateOf<State>(
      bcom as unknown as Bcom<never>,
      (next) => Gate(...next),
      state as State,
      limits.audited ? policy : unaudited,
    );`,
        replace:
          'const rules = forwarderStateOf<State>(bcom as unknown as Bcom<never>, (next) => Gate(...next), state as State, policy);',
      },
    ],
    tests: ['packages/revocable/src/revocable.test.ts'],
  },
  {
    name: 'wrap',
    breaks: 'what comes out of a grant is bare',
    file: 'packages/revocable/src/forwarder/forward.ts',
    find: 'return !holdsMore(value) ? value : cross(value, crossing(back));',
    replace: 'return value;',
    tests: ['packages/revocable/src/revocable.test.ts', 'packages/revocable/src/membrane.test.ts'],
  },
  {
    name: 'late-result',
    breaks: 'what an object answers after the end is passed on',
    file: 'packages/revocable/src/grant.ts',
    find: "if (mode === 'revoked' || groupEnded(limits)) throw revoked;",
    replace: `return;
    if (mode === 'revoked' || groupEnded(limits)) throw revoked;`,
    tests: ['packages/revocable/src/grant.test.ts'],
  },
  {
    name: 'grace',
    breaks: 'results of calls that were made in time are dropped at the deadline',
    file: 'packages/revocable/src/grant.ts',
    find: 'if (isOver(limits, limits.grace)) throw expired;',
    replace: 'if (isOver(limits, 0)) throw expired;',
    tests: ['packages/revocable/src/grant.test.ts', 'packages/revocable/src/revocable.test.ts'],
  },
  {
    name: 'latch',
    breaks: 'a wall clock that is set back revives an expired grant',
    file: 'packages/revocable/src/grant.ts',
    find: `ledgerLine('expire', { grant });
    if (wake !== undefined) cancelWake(wake);`,
    replace: `ledgerLine('expire', { grant });
    return [grant, limits, 'live', left, wake, members];
    if (wake !== undefined) cancelWake(wake);`,
    tests: ['packages/revocable/src/grant.test.ts'],
  },
  {
    name: 'wall-only',
    breaks: 'a grant lasts as long as the wall clock says',
    file: 'packages/revocable/src/aliases/timed.ts',
    find: 'const left = vatTime() < deadline + grace && wallTime() < wallDeadline + grace;',
    replace: 'const left = wallTime() < wallDeadline + grace;',
    tests: ['packages/revocable/src/grant.test.ts'],
  },
  {
    name: 'boot',
    breaks: 'a grant of so many ms outlives the boot of the machine',
    file: 'packages/revocable/src/aliases/timed.ts',
    find: '  if (boot !== undefined && boot !== bootId()) return true;',
    replace: '',
    tests: ['packages/revocable/src/durable.test.ts', 'packages/revocable/src/scopes.test.ts'],
  },
  {
    name: 'facet',
    breaks: 'a method that was not named passes',
    file: 'packages/revocable/src/aliases/facet.ts',
    find: `export function checkMethod(methods: readonly string[], method: string): void {
  if (!methods.includes(method))
    throw new CapError('no-such-method', \`this grant does not include "\${shown(method)}": it has \${list(methods)}\`);
}`,
    replace: 'export function checkMethod(methods: readonly string[], method: string): void {}',
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
    breaks: 'arguments that no bound speaks of pass',
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
    breaks: 'what comes out of a gated cap waits for nobody, or nobody is told where it came from',
    file: 'packages/revocable/src/aliases/gated.ts',
    find: 'if (isData(value)) return value;',
    replace: 'return value;',
    tests: ['packages/revocable/src/aliases/gated.test.ts'],
  },
  {
    name: 'gated-data',
    breaks: 'gated arguments may be objects and promises, which can change after approval',
    file: 'packages/revocable/src/aliases/gated.ts',
    find: `before: (state, method, args) => {
    if (waits(state, method) && !isData(args))
      throw new CapError(
        'invalid',
        \`"\${shown(method)}" waits for approval here, so it takes data only: an object or a promise could change after it\`,
      );
  },`,
    replace: 'before: (state, method, args) => {},',
    tests: ['packages/revocable/src/aliases/gated.test.ts', 'packages/revocable/src/forwarder/forward.test.ts'],
  },
  {
    name: 'gated',
    breaks: 'a call goes on whatever was answered',
    file: 'packages/revocable/src/aliases/gated.ts',
    find: 'if (yes === true) return send(args);',
    replace: 'return send(args);',
    tests: ['packages/revocable/src/forwarder/forward.test.ts'],
  },
  {
    name: 'reveal',
    breaks: 'the host sees through a forwarder that filters or counts',
    file: 'packages/revocable/src/grant.ts',
    find: '    if (filters) throw opaque();',
    replace: '',
    tests: ['packages/revocable/src/forwarder/reveal.test.ts'],
  },
  {
    name: 'membrane-home',
    breaks: 'a face that comes home stays a face',
    file: 'packages/revocable/src/forwarder/cross.ts',
    find: '  if (known !== undefined && known.rules === rules) return known.back === inward ? reference : known.inner;',
    replace: '',
    tests: ['packages/revocable/src/membrane.test.ts'],
  },
  {
    name: 'membrane-identity',
    breaks: 'an object has a new face each time',
    file: 'packages/revocable/src/forwarder/cross.ts',
    find: 'const held = facesUnder(rules, inward).get(reference)?.deref();',
    replace: 'const held = undefined;',
    also: [
      {
        file: 'packages/revocable/src/forwarder/cross.ts',
        find: 'const kept = name === undefined ? undefined : members?.get(row(name, inward));',
        replace: 'const kept = undefined;',
      },
    ],
    tests: ['packages/revocable/src/membrane.test.ts', 'packages/revocable/src/durable.test.ts'],
  },
  {
    name: 'membrane-promise',
    breaks: 'a promise goes through a membrane as it is',
    file: 'packages/revocable/src/forwarder/cross.ts',
    find: 'if (inward && members === undefined) return promise;',
    replace: 'return promise;',
    tests: ['packages/revocable/src/membrane.test.ts'],
  },
  {
    name: 'membrane-back',
    breaks: 'a callback goes through a membrane as it is',
    file: 'packages/revocable/src/forwarder/cross.ts',
    find: 'if (inward && members === undefined) return reference;',
    replace: 'if (inward) return reference;',
    tests: ['packages/revocable/src/membrane.test.ts'],
  },
  {
    name: 'group-ended',
    breaks: 'a grant whose group has ended lets calls through until it is removed',
    file: 'packages/revocable/src/grant.ts',
    find: '  if (groupEnded(limits)) throw revoked;',
    replace: '',
    tests: ['packages/host/src/sessions/removal.test.ts'],
  },
];
