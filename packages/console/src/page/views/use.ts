/** Hooks of the page: the state of the model, the time, and when a card may be approved. */
import type { RefObject } from 'preact';
import { useEffect, useReducer, useRef, useState } from 'preact/hooks';
import { after, each, letterSize, now } from '../drivers/browser.ts';
import { type Arming, arm, isArmed, leftToArm, unseen } from '../logic/arming.ts';
import type { Model, State } from '../model.ts';

/** The state; the component is drawn anew when it changes. */
export function useModel(model: Model): State {
  const [, again] = useReducer((n: number) => n + 1, 0);
  useEffect(() => model.listen(() => again(undefined as never)), [model]);
  return model.state;
}

/** The time, each second. */
export function useSeconds(): number {
  const [time, setTime] = useState(now);
  useEffect(() => {
    return each(1000, () => setTime(now()));
  }, []);
  return time;
}

interface Watched {
  readonly armed: boolean;
  readonly start: RefObject<HTMLElement | null>;
  readonly end: RefObject<HTMLElement | null>;
}

/**
 * Whether the card between the two elements may be approved. `place` is different whenever the card may have moved, and
 * `shown` whenever its text is another one.
 */
export function useArming(shown: string, place: number): Watched {
  const start = useRef<HTMLElement>(null);
  const end = useRef<HTMLElement>(null);
  const state = useRef<Arming>(unseen);
  const [armed, setArmed] = useState(false);

  useEffect(() => {
    let cancel = (): void => {};
    const apply = (event: Parameters<typeof arm>[1]): void => {
      state.current = arm(state.current, event);
      cancel();
      const left = leftToArm(state.current, now());
      setArmed(isArmed(state.current, now()));
      if (left !== undefined && left > 0) cancel = after(left + 1, () => setArmed(isArmed(state.current, now())));
    };
    state.current = unseen;
    setArmed(false);
    const observer = new IntersectionObserver((entries) => {
      for (const { isIntersecting, target } of entries)
        if (isIntersecting && document.visibilityState === 'visible')
          apply({ type: 'seen', part: target === start.current ? 'start' : 'end', now: now() });
    });
    const observe = (): void => {
      for (const { current } of [start, end]) if (current !== null) observer.observe(current);
    };
    const looked = (): void => {
      observer.disconnect();
      if (document.visibilityState === 'visible') observe();
      else apply({ type: 'hidden' });
    };
    observe();
    document.addEventListener('visibilitychange', looked);
    return () => {
      cancel();
      observer.disconnect();
      document.removeEventListener('visibilitychange', looked);
    };
  }, [shown, place]);

  return { armed, start, end };
}

/** The rows of a long list that are drawn: those on the screen and some around them. */
export interface Rows {
  readonly first: number;
  readonly last: number;
  /** The height of one row, in px. */
  readonly height: number;
  readonly onScroll: (event: { readonly currentTarget: { readonly scrollTop: number } }) => void;
}

/** How many rows fit on the screen at the most, with those that are drawn before and after. */
const DRAWN = 40;
const BEFORE = 8;

/** `letters`: the height of a row in sizes of a letter, so that larger text gets higher rows. */
export function useRows(count: number, letters: number): Rows {
  const [top, setTop] = useState(0);
  const height = letters * letterSize();
  const first = Math.max(0, Math.min(count - DRAWN, Math.floor(top / height) - BEFORE));
  return {
    ...{ first, height },
    last: Math.min(count, first + DRAWN),
    onScroll: ({ currentTarget }) => setTop(currentTarget.scrollTop),
  };
}
