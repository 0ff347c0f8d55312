/** The names of a manifest as names of a host, which are made of a–z, 0–9 and -. */

/** Manifests refuse names that look alike, also by case and by _ and -, so two names stay two. */
export const petnameOf = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll('_', '-')
    .replace(/-+$/, (dashes) => 'x'.repeat(dashes.length));
