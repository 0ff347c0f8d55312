/**
 * A list that whole lists can be appended to. Linking promises then costs the same however many messages
 * wait.
 */
export interface Many<T> extends Array<T | Many<T>> {}

export function joined<T>(some: Many<T> | undefined, more: Many<T>): Many<T> {
  if (some === undefined) return more;
  some.push(more);
  return some;
}

/**
 * Visits all items in order, including those added meanwhile. Not recursive: the nesting is as deep as the
 * chain of links.
 */
export function each<T extends object>(many: Many<T>, then: (one: T) => void): void {
  const inside: { readonly many: Many<T>; at: number }[] = [{ many, at: 0 }];
  for (let top = inside.at(-1); top !== undefined; top = inside.at(-1)) {
    const one = top.many[top.at];
    top.at += 1;
    if (one === undefined) inside.pop();
    else if (Array.isArray(one)) inside.push({ many: one, at: 0 });
    else then(one);
  }
}
