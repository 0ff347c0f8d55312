/** Hooks of the page: the state of the model, the time, and when a card may be approved. */
import type { RefObject } from 'preact';
import { useEffect, useReducer, useRef, useState } from 'preact/hooks';
import { after, each, now } from '../drivers/browser.ts';
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
