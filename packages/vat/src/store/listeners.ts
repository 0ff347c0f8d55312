/** Listeners of a store. */
import { soon } from '../drivers/loop.ts';

/** Adds a listener. Returns a function that removes it. A listener that is added twice is called twice. */
export function listen(listeners: Set<() => void>, listener: () => void): () => void {
  const own = (): void => listener();
  listeners.add(own);
  return () => {
    listeners.delete(own);
  };
}

/** Calls all listeners. */
export function tell(listeners: ReadonlySet<() => void>): void {
  for (const listener of [...listeners]) {
    try {
      listener();
    } catch (error) {
      // The commit has happened, so its caller must not see an error. A bug of ours must not go unseen
      // either.
      soon(() => {
        throw error;
      });
    }
  }
}
