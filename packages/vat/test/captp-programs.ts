/**
 * Random programs of up to three parties that are joined by CapTP: what they may do. `captp-world.ts` runs
 * them.
 *
 * The hub has a wire to each of two others, so what passes between those goes through it. A program sends,
 * pipelines, resolves, passes, releases and cuts wires; frames arrive when it says so.
 */
import fc from 'fast-check';

/** The result of the called node. `tell`: it calls its first argument, and returns that result. */
export type Reply = 'data' | 'self' | 'other' | 'argument' | 'record' | 'promise' | 'throw' | 'tell';
export type Step =
  | {
      readonly do: 'send';
      readonly by: number;
      /** `last`: what it sent to last, or the answer to that. */
      readonly to: number | 'last';
      readonly follow: boolean;
      readonly args: readonly (number | 'own')[];
      readonly reply: Reply;
      readonly then: Reply;
      readonly only: boolean;
      readonly deep: boolean;
    }
  | { readonly do: 'mint'; readonly by: number }
  | { readonly do: 'resolve'; readonly by: number; readonly which: number; readonly to: number | 'data' | 'error' }
  | { readonly do: 'deliver'; readonly wire: number; readonly end: 0 | 1; readonly frames: number }
  | { readonly do: 'turns'; readonly count: number }
  | { readonly do: 'drain' }
  | { readonly do: 'release'; readonly by: number; readonly which: number }
  | { readonly do: 'cut'; readonly wire: number; readonly end: 0 | 1 };
export interface Program {
  readonly parties: 2 | 3;
  /**
   * Whether all that a party does is paid by one: messages that several pay for are delivered in no order
   * among them.
   */
  readonly oneMeter: boolean;
  readonly steps: readonly Step[];
}

const end = fc.constantFrom(0 as const, 1 as const);
const reply: fc.Arbitrary<Reply> = fc.constantFrom(
  'data',
  'self',
  'other',
  'argument',
  'argument',
  'record',
  'promise',
  'throw',
  'tell',
);
// The newest things are the interesting ones: indexes count from the end.
const which = fc.oneof({ weight: 3, arbitrary: fc.nat(3) }, { weight: 1, arbitrary: fc.nat(30) });
const who = fc.nat(2);
const step = (withCuts: boolean, withReleases: boolean): fc.Arbitrary<Step> =>
  fc.oneof(
    { withCrossShrink: true },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('turns' as const), count: fc.integer({ min: 1, max: 3 }) }) },
    {
      weight: 8,
      arbitrary: fc.record({
        do: fc.constant('deliver' as const),
        wire: fc.nat(1),
        end,
        frames: fc.integer({ min: 1, max: 3 }),
      }),
    },
    {
      weight: 12,
      arbitrary: fc.record({
        do: fc.constant('send' as const),
        by: who,
        to: fc.oneof(which, fc.constant('last' as const)),
        args: fc.array(
          fc.oneof({ weight: 3, arbitrary: which }, { weight: 1, arbitrary: fc.constant('own' as const) }),
          { maxLength: 2 },
        ),
        reply,
        then: reply,
        only: fc.boolean(),
        deep: fc.boolean(),
        follow: fc.boolean(),
      }),
    },
    { weight: 3, arbitrary: fc.record({ do: fc.constant('mint' as const), by: who }) },
    {
      weight: 4,
      arbitrary: fc.record({
        do: fc.constant('resolve' as const),
        by: who,
        which,
        to: fc.oneof({ weight: 4, arbitrary: which }, { weight: 1, arbitrary: fc.constantFrom('data', 'error') }),
      }) as fc.Arbitrary<Step>,
    },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('drain' as const) }) },
    {
      weight: withReleases ? 2 : 0,
      arbitrary: fc.record({ do: fc.constant('release' as const), by: who, which }),
    },
    { weight: withCuts ? 1 : 0, arbitrary: fc.record({ do: fc.constant('cut' as const), wire: fc.nat(1), end }) },
  );
export const programs = (
  length: number,
  { cuts = true, releases = true }: { readonly cuts?: boolean; readonly releases?: boolean } = {},
): fc.Arbitrary<Program> =>
  fc.record({
    parties: fc.constantFrom(2 as const, 3 as const, 3 as const),
    oneMeter: fc.boolean(),
    steps: fc.array(step(cuts, releases), { maxLength: length, size: 'max' }),
  });
