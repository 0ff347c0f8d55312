/** An observer that throws is the observer's problem: it is told as an uncaught error, what it observed is not. */
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
