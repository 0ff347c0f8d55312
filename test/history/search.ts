/**
 * Checks whether some order of the calls explains a history. It tries every order (Wing and Gong, 1993), but no state
 * with the same remaining calls twice (Lowe, 2017). It is for short histories: up to 30 calls, few of them at once.
 */

/** The begin and the end of a call. A call without an answer has the end `Infinity`. */
export interface Timed {
  readonly from: number;
  readonly to: number;
}

/** The rules of an object whose calls happen one after the other. */
export interface Rules<State, Call extends Timed> {
  readonly begin: State;
  /** Returns the state after this call; undefined if the object would not give this answer in `state`. */
  after(state: State, call: Call): State | undefined;
  /** Whether the call may never have been carried out. */
  mayBeMissing(call: Call): boolean;
}

/** Whether some order of the calls keeps the rules. In it, a call that ended before another one began comes first. */
export function isExplained<State, Call extends Timed>(rules: Rules<State, Call>, history: readonly Call[]): boolean {
  const tried = new Set<string>();
  const search = (state: State, rest: readonly Call[]): boolean => {
    if (rest.every((call) => rules.mayBeMissing(call))) return true;
    const name = JSON.stringify([state, rest.map((call) => history.indexOf(call))]);
    if (tried.has(name)) return false;
    tried.add(name);
    const firstEnd = Math.min(...rest.map(({ to }) => to));
    return rest.some((call) => {
      if (call.from > firstEnd) return false;
      const after = rules.after(state, call);
      return after !== undefined && search(after, rest.filter((other) => other !== call)); // biome-ignore format: one line
    });
  };
  return search(rules.begin, history);
}
