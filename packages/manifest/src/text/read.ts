/**
 * Reads the text of a manifest into plain data that remembers its lines.
 *
 * A manifest is data and nothing else. Anchors, aliases, merge keys, tags, directives and a second document are
 * refused, because a reader would not see what they do. Size, lines and depth are checked before the parser runs.
 */
import { isAlias, isMap, isNode, isScalar, isSeq, LineCounter, type Node, type Pair, parseDocument } from 'yaml';
import { type Mistake, type Path, pathText, quoted, type TextPosition } from './mistakes.ts';
import { flatter, MOST_DEPTH, tooLarge } from './size.ts';
import { sayYaml } from './yaml-mistakes.ts';

/** The text of a manifest. `file` is the name that messages show. */
export interface Source {
  readonly file: string;
  readonly text: string;
}

/** The data of a manifest, and the line of each part. */
export interface Document {
  readonly file: string;
  readonly data: unknown;
  /** The place of a value, or of its key. For a path that is not there: the place of the part above it. */
  where(path: Path, key?: boolean): TextPosition;
}

/** A document, or the mistakes. */
export type Read =
  | { readonly document: Document; readonly mistakes: readonly [] }
  | { readonly document?: undefined; readonly mistakes: readonly Mistake[] };

/** Reads one manifest. It never throws for a text, whatever the text is. */
export function readSource({ file, text }: Source): Read {
  const large = tooLarge(text);
  if (large !== undefined) {
    const { place, ...said } = large;
    return { mistakes: [{ severity: 'error', file, ...place, at: '', ...said }] };
  }
  const lines = new LineCounter();
  // The parser's own check of double keys compares each with each. `keysTwice` does it in one pass.
  // `prettyErrors` copies text around each error, and a text may have an error at each sign.
  const parsed = parseDocument(text, {
    lineCounter: lines,
    uniqueKeys: false,
    merge: false,
    prettyErrors: false,
    version: '1.2',
  });
  const placeAt = (offset: number): TextPosition => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  const mistakes: Mistake[] = [];
  const add = (offset: number, wrong: string, write: string, path: Path = []): void =>
    void mistakes.push({ severity: 'error', file, ...placeAt(offset), at: pathText(path), wrong, write });

  for (const error of parsed.errors.slice(0, MOST_MISTAKES)) {
    const { wrong, write } = sayYaml(error);
    add(error.pos[0], wrong, write);
  }
  const directive = /^%/m.exec(text.slice(0, Math.max(0, text.search(/^---/m))));
  if (directive !== null) add(directive.index, 'directives are not allowed', 'remove the line that begins with %');
  if (mistakes.length < MOST_MISTAKES) refuseIndirection(parsed.contents, add);
  if (mistakes.length > 0) return { mistakes: mistakes.slice(0, MOST_MISTAKES) };

  const root = parsed.contents as Node | null;
  const data = dataOf(root, add);
  if (mistakes.length > 0) return { mistakes: mistakes.slice(0, MOST_MISTAKES) };
  const where = (path: Path, key = false): TextPosition => placeAt(offsetOf(root, path, key));
  return { document: { file, data, where }, mistakes: [] };
}

/** More mistakes than this help nobody. */
export const MOST_MISTAKES = 50;

/** More keys in one record than a person reads. Each further one costs the schema as much as the parser. */
const MOST_KEYS = 250;

type Add = (offset: number, wrong: string, write: string, path?: Path) => void;

const startOf = (node: unknown): number => (node as { range?: readonly number[] } | null)?.range?.[0] ?? 0;

/** Refuses what makes a value depend on another place, or on a type that the reader of the text does not see. */
function refuseIndirection(contents: unknown, add: Add): void {
  // Not `visit` of the parser's package: it copies the way to each node.
  for (const left: unknown[] = [contents]; left.length > 0; ) {
    const node = left.pop();
    if (!isNode(node)) continue;
    if (isAlias(node)) add(startOf(node), 'aliases (*name) are not allowed', 'write the value again');
    else if (node.anchor !== undefined)
      add(startOf(node), 'anchors (&name) are not allowed', 'remove the anchor, and write the value where it is used');
    if (node.tag !== undefined) add(startOf(node), 'tags (!name) are not allowed', 'remove the tag');
    // In the order of the text: the last one is taken first.
    if (isSeq(node)) left.push(...node.items.toReversed());
    if (!isMap(node)) continue;
    for (const { key } of node.items)
      if (isScalar(key) && key.value === '<<')
        add(startOf(key), 'merge keys (<<) are not allowed', 'write the keys where they are used');
    left.push(...node.items.flatMap(({ key, value }) => [key, value]).toReversed());
  }
}

/** Plain records, lists, texts, numbers, booleans and null. */
function dataOf(node: unknown, add: Add, path: Path = []): unknown {
  // Brackets in a quoted text of several lines hide the depth from `tooDeep`.
  if (path.length > MOST_DEPTH) {
    add(startOf(node), `lists and records lie more than ${MOST_DEPTH} deep in each other`, flatter);
    return null;
  }
  if (isMap(node)) {
    if (node.items.length > MOST_KEYS) {
      add(startOf(node), `this record has more than ${MOST_KEYS} keys`, 'remove some', path);
      return undefined;
    }
    const seen = new Set<string>();
    const entries: [string, unknown][] = [];
    for (const { key, value } of node.items as Pair<unknown, unknown>[]) {
      if (!isScalar(key) || typeof key.value !== 'string') {
        add(
          startOf(key),
          'a key has to be a text',
          'write a name, in quotes if it looks like a number or a list',
          path,
        );
        continue;
      }
      const here = [...path, key.value];
      // Libraries leave out a key of this name, so it would be neither read nor refused.
      if (key.value === '__proto__') add(startOf(key), 'a key cannot be named __proto__', 'choose another name', path);
      if (seen.has(key.value)) add(startOf(key), `${quoted(key.value)} stands here twice`, 'keep one of them', here);
      seen.add(key.value);
      entries.push([key.value, dataOf(value, add, here)]);
    }
    return Object.fromEntries(entries);
  }
  if (isSeq(node)) return node.items.map((item, n) => dataOf(item, add, [...path, n]));
  if (isScalar(node)) return node.value;
  return null;
}

function offsetOf(root: unknown, path: Path, key: boolean): number {
  let node = root;
  let best = startOf(root);
  for (const [n, part] of path.entries()) {
    let next: unknown;
    if (isMap(node)) {
      const pair = (node.items as Pair<unknown, unknown>[]).find((one) => isScalar(one.key) && one.key.value === part);
      if (pair === undefined) return best;
      best = startOf(pair.key);
      next = pair.value;
    } else if (isSeq(node)) next = node.items[part as number];
    if (next === undefined || next === null) return best;
    node = next;
    if (!(key && n === path.length - 1)) best = startOf(node);
  }
  return best;
}
