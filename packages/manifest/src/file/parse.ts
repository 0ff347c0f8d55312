/** From the text of a manifest to a manifest whose shape is right, or to mistakes with their lines. */
import type * as z from 'zod';
import { type Mistake, type Path, pathText } from '../text/mistakes.ts';
import { type Document, MOST_MISTAKES, readSource, type Source } from '../text/read.ts';
import { manifestSchema } from './schema.ts';
import { kinds, say } from './shapes.ts';
import type { Manifest } from './types.ts';

/** A manifest whose shape is right, or the mistakes. */
export type Parsed =
  | { readonly manifest: Manifest; readonly document: Document; readonly mistakes: readonly [] }
  | { readonly manifest?: undefined; readonly mistakes: readonly Mistake[] };

/** Reads a manifest and checks its shape. It never throws for a text. */
export function parse(source: Source): Parsed {
  const { document, mistakes } = readSource(source);
  if (document === undefined) return { mistakes };
  const checked = manifestSchema.safeParse(document.data);
  if (checked.success) return { manifest: checked.data, document, mistakes: [] };
  const issues = checked.error.issues.flatMap((issue) => branchOf(issue, document.data));
  return { mistakes: issues.slice(0, MOST_MISTAKES).map((issue) => mistakeOf(issue, document)) };
}

type Issue = z.core.$ZodIssue;

/** The issues of the branch of a union that the writer meant: the branch of the kind that the cap names. */
function branchOf(issue: Issue, data: unknown): readonly Issue[] {
  if (issue.code !== 'invalid_union') return [issue];
  const given = valueAt(data, issue.path);
  if (typeof given !== 'object' || given === null) return [issue];
  const has = kinds.filter((kind) => Object.hasOwn(given, kind));
  const branches = (issue.errors as readonly (readonly Issue[])[]) ?? [];
  // The union of caps has a branch for each kind, in the order of `kinds`.
  const meant =
    branches.length === kinds.length && has.length === 1 ? branches[kinds.indexOf(has[0] as never)] : undefined;
  const nearestBranch = meant ?? (branches.length === kinds.length ? undefined : leastOf(branches, given));
  if (nearestBranch === undefined || nearestBranch.length === 0) return [issue];
  return nearestBranch.flatMap((inner) => {
    const whole = { ...inner, path: [...issue.path, ...inner.path] } as Issue;
    return branchOf(whole, data);
  });
}

/** The branch that complains about a part of the value and not about the value itself. */
const leastOf = (branches: readonly (readonly Issue[])[], given: object): readonly Issue[] | undefined =>
  branches.find((issues) => issues.every(({ path }) => path.length > 0 && Object.hasOwn(given, String(path[0]))));

function valueAt(data: unknown, path: readonly PropertyKey[]): unknown {
  let value = data;
  for (const part of path) value = (value as Record<PropertyKey, unknown> | undefined)?.[part];
  return value;
}

function mistakeOf(issue: Issue, document: Document): Mistake {
  const unknown = issue.code === 'unrecognized_keys' ? issue.keys[0] : undefined;
  const path = [...(issue.path as Path), ...(unknown === undefined ? [] : [unknown])];
  const isMissing = valueAt(document.data, path) === undefined;
  const message = issue.message.includes('\n')
    ? issue.message
    : say('this value is not allowed here', 'look at the examples');
  const [wrong = '', write = ''] = message.split('\n');
  const missing = isMissing && unknown === undefined ? `${String(path.at(-1) ?? 'the manifest')} is missing` : wrong;
  const place = document.where(path, unknown !== undefined || issue.code === 'invalid_key');
  return { severity: 'error', file: document.file, ...place, at: pathText(path), wrong: missing, write };
}
