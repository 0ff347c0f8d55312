/**
 * Moves caps of a manifest from `ask` to `caps`, and changes no other line.
 *
 * Promise: the new text is the old one with these caps moved and limited as given, compared as data. Where it cannot be
 * done line by line, the whole text is written anew, with its comments.
 */
import { Document, isMap, isPair, isScalar, type Pair, parseDocument, visit, type YAMLMap } from 'yaml';
import type { Ask, Cap, Manifest } from '../file/types.ts';

/** One cap to move. `note` is written beside it, as a comment of one line. */
export interface Move {
  readonly name: string;
  readonly uses?: number;
  /** Such as `15m`. */
  readonly for?: string;
  readonly note: string;
}

/** The manifest after these moves, as data. The offer of a cap ends with `ask`. */
export function moved(manifest: Manifest, moves: readonly Move[]): Manifest {
  const { session = {} } = manifest;
  const caps: Record<string, Cap> = { ...session.caps };
  const ask: Record<string, Ask> = { ...session.ask };
  for (const move of moves) {
    const cap = ask[move.name];
    if (cap === undefined) continue;
    caps[move.name] = limited(cap, move);
    delete ask[move.name];
  }
  const { ask: _asked, ...rest } = session;
  return { ...manifest, session: { ...rest, caps, ...(Object.keys(ask).length === 0 ? {} : { ask }) } };
}

function limited({ offer: _offer, ...cap }: Ask, { uses, for: time }: Move): Cap {
  return { ...cap, ...(uses === undefined ? {} : { uses }), ...(time === undefined ? {} : { for: time }) } as Cap;
}

/** The text after these moves. `text` was read without a mistake, and is `manifest`. */
export function movedText(text: string, manifest: Manifest, moves: readonly Move[]): string {
  const wanted = canonical(moved(manifest, moves));
  const byLine = moves.reduce<string | undefined>((so, move) => so && lineMoved(so, move), text);
  if (byLine !== undefined && canonical(parseDocument(byLine).toJS()) === wanted) return byLine;
  const whole = wholeMoved(text, moves);
  if (canonical(parseDocument(whole).toJS()) !== wanted) throw new Error('a moved cap is not what it was');
  return whole;
}

/** Text of data, whatever the order of its keys. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_key, one: unknown) =>
    typeof one === 'object' && one !== null && !Array.isArray(one)
      ? Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1)))
      : one,
  );

type Block = YAMLMap<unknown, unknown>;

function pairIn(map: unknown, key: string): Pair<unknown, unknown> | undefined {
  if (!isMap(map)) return undefined;
  return map.items.find((one) => isPair(one) && isScalar(one.key) && one.key.value === key);
}

/** A record of several lines, not one between braces. */
const blockIn = (map: unknown, key: string): Block | undefined => {
  const value = pairIn(map, key)?.value;
  return isMap(value) && value.flow !== true && value.items.length > 0 ? value : undefined;
};

const startOf = (pair: Pair<unknown, unknown>): number => (pair.key as { range: readonly number[] }).range[0] ?? 0;

/** The lines of a pair: from the beginning of its first one to the end of its last one. */
function linesOf(text: string, pair: Pair<unknown, unknown>): { readonly from: number; readonly to: number } {
  const from = text.lastIndexOf('\n', startOf(pair) - 1) + 1;
  const end = (pair.value as { range?: readonly number[] } | null)?.range?.[1] ?? startOf(pair);
  const next = text.indexOf('\n', Math.max(startOf(pair), end - 1));
  return { from, to: next < 0 ? text.length : next + 1 };
}

/** Undefined if the text has another form than block records. */
function lineMoved(text: string, { name, note, ...terms }: Move): string | undefined {
  const session = blockIn(parseDocument(text).contents, 'session');
  const [ask, asks] = [blockIn(session, 'ask'), session && pairIn(session, 'ask')];
  const pair = pairIn(ask, name);
  if (session === undefined || ask === undefined || asks === undefined || pair === undefined) return undefined;
  const cap = limited((pair.value as YAMLMap).toJSON() as Ask, { name, note, ...terms });
  const out = linesOf(text, ask.items.length === 1 ? asks : pair);
  const caps = blockIn(session, 'caps');
  const last = caps?.items.at(-1);
  const indent = (of: Pair<unknown, unknown>): string => ' '.repeat(startOf(of) - linesOf(text, of).from);
  const line = `${name}: ${inline(cap)} # ${note}\n`;
  if (last === undefined && pairIn(session, 'caps') !== undefined) return undefined;
  const [at, added] =
    last === undefined
      ? [linesOf(text, asks).from, `${indent(asks)}caps:\n${indent(pair)}${line}`]
      : [linesOf(text, last).to, `${indent(last)}${line}`];
  const before = at > 0 && text[at - 1] !== '\n' ? '\n' : '';
  // From the end of the text on. At one place the old lines go before the new one comes.
  const edits = [
    { ...out, by: '' },
    { from: at, to: at, by: before + added },
  ].sort((a, b) => b.from - a.from);
  return edits.reduce((so, { from, to, by }) => so.slice(0, from) + by + so.slice(to), text);
}

/** A cap in one line. */
function inline(cap: Cap): string {
  const document = new Document(cap, { aliasDuplicateObjects: false, version: '1.2' });
  visit(document, {
    Collection: (_key, node) => {
      node.flow = true;
    },
  });
  return document.toString({ lineWidth: 0 }).trimEnd().replaceAll('[ ', '[').replaceAll(' ]', ']');
}

function wholeMoved(text: string, moves: readonly Move[]): string {
  const document = parseDocument(text);
  const session = document.get('session') as Block;
  session.flow = false;
  for (const { name, note, ...terms } of moves) {
    const ask = session.get('ask') as Block;
    const cap = limited((ask.get(name) as YAMLMap).toJSON() as Ask, { name, note, ...terms });
    const node = document.createNode(cap, { flow: true });
    node.comment = ` ${note}`;
    if (!session.has('caps')) session.set('caps', document.createNode({}));
    const caps = session.get('caps') as Block;
    caps.flow = false;
    caps.set(name, node);
    ask.delete(name);
    if (ask.items.length === 0) session.delete('ask');
  }
  return document.toString({ lineWidth: 0 });
}
