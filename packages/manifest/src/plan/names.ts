/** Names of one session that a person may take for each other. */
import type { Manifest } from '../file/types.ts';
import { type Finding, nearest } from '../text/mistakes.ts';

/** Refuses two names that look alike. `others` are names that the session has from elsewhere. */
export function lookAlikes({ session = {} }: Manifest, others: readonly string[] = []): readonly Finding[] {
  const findings: Finding[] = [];
  const seen = new Map(others.map((name) => [skeleton(name), name]));
  for (const part of ['caps', 'ask'] as const)
    for (const name of Object.keys(session[part] ?? {})) {
      const look = skeleton(name);
      const other = seen.get(look);
      const path = ['session', part, name];
      if (other === name && !others.includes(name))
        findings.push({ path, key: true, wrong: `${name} is in caps and in ask`, write: 'keep one of them' });
      else if (other !== undefined && other !== name)
        findings.push({
          path,
          key: true,
          wrong: `${name} looks like ${other}`,
          write: 'choose a name that nobody confuses',
        });
      seen.set(look, name);
    }
  return findings;
}

/** A deny that names no cap is a warning: a mistyped name denies nothing. */
export function idleDenies({ session = {} }: Manifest, known: readonly string[]): readonly Finding[] {
  return (session.deny ?? []).flatMap((name, n) => {
    if (known.includes(name)) return [];
    const meant = nearest(name, known);
    return [
      {
        severity: 'warning' as const,
        path: ['session', 'deny', n],
        wrong: `no cap is named ${name}, so this denies nothing`,
        write: meant === undefined ? 'remove it, or write the name of a cap' : `did you mean ${meant}?`,
      },
    ];
  });
}

/**
 * Digits and letters that look like a letter. 6 looks like b, and is left out: 6 and 8 are two digits that a list of
 * names has, and both would be b.
 */
const LETTERS: Readonly<Record<string, string>> = { 0: 'o', 1: 'l', i: 'l', 2: 'z', 5: 's', 8: 'b', 9: 'g', q: 'g' };

/**
 * Names with the same skeleton look alike: case, 0 and o, 1, i and l, 2 and z, 5 and s, 8 and b, 9, q and g, - and _, rn
 * and m, vv and w, cl and d.
 */
export const skeleton = (name: string): string =>
  name
    .toLowerCase()
    .replace(/[0-9iq]/g, (sign) => LETTERS[sign] ?? sign)
    .replaceAll('-', '_')
    .replaceAll('rn', 'm')
    .replaceAll('vv', 'w')
    .replaceAll('cl', 'd');
