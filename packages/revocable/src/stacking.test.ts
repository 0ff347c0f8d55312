/**
 * Stacked forwarders against an oracle: a call is allowed exactly if each layer allows it, and a call that one of
 * them refuses costs nothing in any of them, wherever each lives: random
 * stacks, each with a random sequence of calls, revocations and clock changes; 5,000 in the deep run.
 */
import { type Definition, define, driver, type Far, openVats } from '@hob/vat';
import { becomes } from '@hob/vat/forwarder';
import { testClock } from '@hob/vat/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { volume } from '../../../test/depth.ts';
import { code, say } from '../test/world.ts';
import { bound, facet, forward, gated, type Judge, membrane, type Revoker, revocable } from './index.ts';

interface Target {
  read(n: number): number;
  write(n: number): number;
  fail(n: number): never;
}
const Target: Definition<Target, []> = define('Target', () => ({
  read: (n) => n,
  write: (n) => n,
  fail: (): never => {
    throw new RangeError('it always fails');
  },
}));

const methods = ['read', 'write', 'fail'] as const;
type Method = (typeof methods)[number];

const layer = fc.oneof(
  fc.record({ kind: fc.constant('facet' as const), only: fc.subarray([...methods], { minLength: 1 }) }),
  fc.record({
    kind: fc.constant('bound' as const),
    method: fc.constantFrom(...methods),
    max: fc.integer({ min: 0, max: 9 }),
  }),
  fc.record({ kind: fc.constantFrom('mine' as const, 'gated' as const) }),
  fc.record({ kind: fc.constant('budget' as const), uses: fc.integer({ min: 1, max: 6 }) }),
  fc.record({
    kind: fc.constantFrom('revocable' as const, 'membrane' as const),
    uses: fc.option(fc.integer({ min: 1, max: 6 }), { nil: undefined }),
    ms: fc.integer({ min: 1, max: 1000 }),
    only: fc.option(fc.subarray([...methods], { minLength: 1 }), { nil: undefined }),
    audited: fc.boolean(),
  }),
);
type Layer = typeof layer extends fc.Arbitrary<infer L> ? L : never;

const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('call' as const),
      method: fc.constantFrom(...methods),
      n: fc.integer({ min: 0, max: 9 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.integer({ min: 0, max: 400 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('wall' as const), ms: fc.integer({ min: -900, max: 300 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('revoke' as const), which: fc.nat({ max: 7 }) }) },
);

type Put = readonly [Far<object>, Far<Revoker> | undefined];

/** Adds one forwarder around `cap`. Returns it and its revoker. */
function put(of: Layer, cap: Far<object>): Put {
  switch (of.kind) {
    case 'facet':
      return [facet(cap as Far<Target>, of.only), undefined];
    case 'bound':
      return [bound(cap, { [of.method]: { 0: { min: 0, max: of.max } } }), undefined];
    case 'mine':
      return [mine(cap), undefined];
    case 'budget':
      return [budget(cap, of.uses), undefined];
    case 'gated':
      return [gated(cap, yes), undefined];
    default: {
      const made = (of.kind === 'membrane' ? membrane : revocable)(cap, {
        for: of.ms,
        audited: of.audited,
        ...(of.uses === undefined ? {} : { uses: of.uses }),
        ...(of.only === undefined ? {} : { methods: of.only }),
      });
      return [made.cap, made.revoker];
    }
  }
}

/** Allows odd numbers only. */
const mine = forward<readonly []>('odd', {
  before: (_state, _method, [n]) => {
    if ((n as number) % 2 === 0) throw new RangeError('odd numbers only');
  },
});

/** The program's own count. */
const budget = forward<readonly [left: number]>('budget', {
  before: ([left]) => {
    if (left <= 0) throw new RangeError('it is used up');
    return [left - 1];
  },
});

/** A person who says yes. */
const yes = driver<Judge>({ ask: () => true });

/** The model of one layer. */
interface Model {
  /** Whether the call passes. */
  allows(method: Method, n: number): boolean;
  /** The call passed here and everywhere behind. */
  charge(): void;
  /** Called when the layer reads the clocks. */
  look(vat: number, wall: number): void;
  revoke?: () => void;
}

function modelOf(of: Layer, vat: number, wall: number): Model {
  let left = 'uses' in of && of.uses !== undefined ? of.uses : Number.POSITIVE_INFINITY;
  const ends = 'ms' in of ? [vat + of.ms, wall + of.ms] : [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  let over = false;
  return {
    look(nowVat, nowWall) {
      if (nowVat >= (ends[0] as number) || nowWall >= (ends[1] as number)) over = true;
    },
    allows(method, n) {
      if (over || left <= 0) return false;
      if ('only' in of && of.only !== undefined && !of.only.includes(method)) return false;
      if (of.kind === 'bound' && of.method === method && n > of.max) return false;
      if (of.kind === 'mine' && n % 2 === 0) return false;
      return true;
    },
    charge: () => void (left -= 1),
    ...(of.kind === 'revocable' || of.kind === 'membrane' ? { revoke: () => void (over = true) } : {}),
  };
}

// 5,000 in the plain regime of the deep run. Locked down a quarter of them: hardened intrinsics change nothing here.
const runs = volume(1_000, 5_000) / (Object.isFrozen(Object.prototype) ? 4 : 1);

test('random stacks: a call passes exactly if every layer allows it, in any order', async () => {
  const clock = testClock();
  const vats = await openVats({ clock });
  let stacks = 0;
  let allowed = 0;
  let refused = 0;
  try {
    const target = await vats.vat('grants').spawn(Target());
    await fc.assert(
      fc.asyncProperty(
        // In one turn; each in a turn of its own; or each layer in the vat with this number.
        fc.oneof(
          fc.constantFrom('near' as const, 'apart' as const),
          fc.array(fc.nat({ max: 2 }), { minLength: 5, maxLength: 5 }),
        ),
        fc.array(layer, { minLength: 1, maxLength: 5 }),
        fc.array(step, { minLength: 1, maxLength: 10 }),
        async (where, layers, steps) => {
          stacks += 1;
          const revokers: (Far<Revoker> | undefined)[] = [];
          const judges = layers.map((of) => modelOf(of, clock.boottime(), clock.wall()));
          let cap = target as Far<object>;
          const stack = (): void => {
            for (const of of layers) {
              const [made, revoker] = put(of, cap);
              cap = made;
              revokers.push(revoker);
            }
          };
          // Made in one turn, the layers are near each other and the target. Made outside, each has a turn of
          // its own and reads the clocks there: all those turns must be over before the clocks move.
          if (where === 'near') await vats.vat('grants').turn(() => void stack());
          else if (where === 'apart') stack();
          else
            for (const [n, of] of layers.entries()) {
              const behind = cap;
              const made = (await vats.vat(`v${where[n]}`).turn(() => put(of, behind) as never)) as Put;
              cap = made[0];
              revokers.push(made[1]);
            }
          await becomes(cap);
          for (const each of steps) {
            if (each.do === 'pass') clock.advance(each.ms);
            else if (each.do === 'wall') clock.stepWall(each.ms);
            else if (each.do === 'revoke') {
              const which = each.which % layers.length;
              const revoker = revokers[which];
              if (revoker === undefined) continue;
              await say(revoker, 'revoke');
              judges[which]?.revoke?.();
            } else {
              // From the outermost inwards. A layer that is not reached reads no clock. All charge, or none.
              let passes = true;
              for (const one of [...judges].reverse()) {
                one.look(clock.boottime(), clock.wall());
                passes = one.allows(each.method, each.n);
                if (!passes) break;
              }
              if (passes) for (const one of judges) one.charge();
              const answer = await code(say(cap, each.method, each.n));
              const expected = !passes ? 'refused' : each.method === 'fail' ? 'failed' : 'ok';
              const was = answer === 'ok' ? 'ok' : answer.startsWith('RangeError: it always') ? 'failed' : 'refused';
              expect(was, answer).toBe(expected);
              if (passes) allowed += 1;
              else refused += 1;
            }
            // An alarm at vat time ends a layer even if nobody calls.
            for (const one of judges) one.look(clock.boottime(), Number.NEGATIVE_INFINITY);
          }
        },
      ),
      { numRuns: runs },
    );
    expect(stacks).toBeGreaterThanOrEqual(runs);
    expect(Math.min(allowed, refused)).toBeGreaterThan(runs / 2);
  } finally {
    await vats.close();
  }
});
