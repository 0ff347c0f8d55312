/**
 * Wraps an observer: an error that it throws is reported as uncaught and does not reach the code it observes.
 */
export function guarded<T>(observe: (what: T) => void): (what: T) => void {
  return (what) => {
    try {
      observe(what);
    } catch (error) {
      queueMicrotask(() => {
        throw error;
      });
    }
  };
}
