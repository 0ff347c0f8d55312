/**
 * When a card may be approved: (state, event) -> state.
 *
 * Promise: a card is approved only after its beginning and its end were on the screen, and 700 ms have passed since in
 * which the tab was seen. Whoever shows the card begins anew when its text is another one, or when it moved. So no click
 * or key that was meant for something else approves.
 */

/** How long a whole card stays before it can be approved. */
export const ARM_MS = 700;

export interface Arming {
  readonly start: boolean;
  readonly end: boolean;
  /** The time from which it has been whole and at rest. */
  readonly since: number | undefined;
}

export type ArmingEvent =
  | { readonly type: 'seen'; readonly part: 'start' | 'end'; readonly now: number }
  | { readonly type: 'hidden' };

export const unseen: Arming = Object.freeze({ start: false, end: false, since: undefined });

export function arm(state: Arming, event: ArmingEvent): Arming {
  switch (event.type) {
    case 'hidden':
      return unseen;
    case 'seen': {
      const start = state.start || event.part === 'start';
      const end = state.end || event.part === 'end';
      return { start, end, since: start && end ? (state.since ?? event.now) : undefined };
    }
  }
}

/** The time left until it can be approved; undefined while it was not seen whole. */
export const leftToArm = ({ since }: Arming, now: number): number | undefined =>
  since === undefined ? undefined : Math.max(0, since + ARM_MS - now);

export const isArmed = (state: Arming, now: number): boolean => leftToArm(state, now) === 0;
