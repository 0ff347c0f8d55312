/** The requests that callers from outside have under way. Each caller has its own limit, so none keeps another out. */

/** A caller waits for some answers while it asks for others. */
const MOST_AT_ONCE = 32;

export class OutsideCallers {
  readonly #underWay = new Map<string, number>();

  /** Takes a place for a request. Returns the function that gives it back; undefined if the caller has too many. */
  take(path: string, caller: string): (() => void) | undefined {
    // A path has no space.
    const key = `${path} ${caller}`;
    const before = this.#underWay.get(key) ?? 0;
    if (before >= MOST_AT_ONCE) return undefined;
    this.#underWay.set(key, before + 1);
    return () => {
      const left = (this.#underWay.get(key) ?? 1) - 1;
      if (left === 0) this.#underWay.delete(key);
      else this.#underWay.set(key, left);
    };
  }
}
