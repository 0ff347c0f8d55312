/** A granter's own names beside the ids. */
import type { Granter, OwnName } from '@hob/host';
import { E, type Far } from '@hob/vat';
import { shortId } from '../line/ids.ts';
import { Mistake } from '../line/mistake.ts';

/** By the whole id of the thing. */
export type Names = ReadonlyMap<string, OwnName>;

const LETTERS = { grant: 'G', session: 'S', request: 'R' } as const;

/** All names that this granter gave. */
export async function allNames(granter: Far<Granter>): Promise<Names> {
  const names = new Map<string, OwnName>();
  for (let after: string | undefined; ; ) {
    const page = (await E(granter).names(after)) as readonly OwnName[];
    for (const row of page) names.set(row.id, row);
    after = page.at(-1)?.id;
    if (after === undefined) return names;
  }
}

/** `G3`, or `G3 (deploy-key)`. No name of somebody else's is shown in brackets behind an id. */
export function idText(kind: 'R' | 'G' | 'S', id: string, names: Names): string {
  const own = names.get(id);
  return own === undefined ? shortId(kind, id) : `${shortId(kind, id)} (${own.name})`;
}

/** The field `called` of a thing that has a name. */
export function called(id: string, names: Names): { readonly called?: string } {
  const own = names.get(id);
  return own === undefined ? {} : { called: own.name };
}

/** `G3` for the thing of a name. */
export const shortOf = ({ id, kind }: OwnName): string => shortId(LETTERS[kind], id);

/** The names of the ids in a request, as a line below its card. Undefined if there are none. */
export function namesLine(ids: readonly string[], names: Names): string | undefined {
  const known = ids.flatMap((id) => names.get(id) ?? []);
  return known.length === 0
    ? undefined
    : `  your names: ${known.map((own) => `${shortOf(own)} is ${own.name}`).join(', ')}`;
}

/** The name that a person means by itself or by the id of its thing. Errors: `Mistake`. */
export async function ownNamed(granter: Far<Granter>, text: string): Promise<OwnName> {
  const found = [...(await allNames(granter)).values()].find(
    (own) => own.name === text || own.id === text || shortOf(own) === text.toUpperCase(),
  );
  if (found === undefined) throw new Mistake(`you gave no name to ${JSON.stringify(text.slice(0, 40))}: hob name lists your names`); // biome-ignore format: one line
  return found;
}
