/**
 * Whether some order of the calls explains a history: by trying every order (Wing and Gong, 1993), where what was tried
 * before is not tried again (Lowe, 2017). For short histories: up to 30 calls, of which few run at once.
 */

/** What a history can be searched for. `Call` may have any answer of its own. */
export interface Timed {
  readonly from: number;
  readonly to: number;
}

/** The rules of an object, as a program that runs alone. */
export interface Rules<State, Call extends Timed> {
  readonly begin: State;
  /** The state after this call, if its answer is the right one in `state`; otherwise `undefined`. */
  after(state: State, call: Call): State | undefined;
  /** Whether it may also never have happened. */
  mayBeMissing(call: Call): boolean;
}

/** Whether an order of the calls keeps the rules in which no call comes before one that had ended when it began. */
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
