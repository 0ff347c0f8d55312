/**
 * What a forwarder looks like from outside. Its methods are not its own, so nobody sees by looking at it that it forwards to a stream.
 *
 * Promise: who makes a forwarder, and so holds what is behind it, says so here. It is used to see which methods there are, and for nothing
 * else: nobody gets what is behind a forwarder by asking.
 */
const behind = new WeakMap<object, object>();

/** Forwarders of forwarders are followed so far. */
const deepest = 64;

/** Says that calls of `face` are sent on to `inner`, some or all of them. For as long as the process runs: no store keeps it. */
export function forwardsTo(face: object, inner: object): void {
  behind.set(face, inner);
}

/** Whether it has all of these methods, as far as can be seen. */
export function hasMethods(reference: object, ...methods: readonly string[]): boolean {
  let at: object | undefined = reference;
  for (let i = 0; i < deepest && at !== undefined; i += 1) {
    const seen: object = at;
    if (methods.every((method) => method in seen)) return true;
    at = behind.get(seen);
  }
  return false;
}
