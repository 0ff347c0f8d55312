/** Joins the pieces of all rules to caps with names, as a manifest writes them. */
import type { Ask, Cap, CommandCap, FsCap, FsRight, McpCap } from '../file/types.ts';
import { skeleton } from '../plan/names.ts';
import type { Word } from '../words/row.ts';
import { products } from './barriers.ts';
import { fsText } from './paths.ts';
import type { Minted, Piece } from './pieces.ts';
import { isPlainWord, nameOf } from './programs.ts';
import type { Rule } from './rule.ts';

/** A cap, and the rules that it is made of. */
export interface MadeCap {
  readonly name: string;
  readonly how: Minted;
  readonly cap: Cap;
  readonly rules: readonly Rule[];
}

/** More rows than this in one cap help nobody. */
const MOST_ROWS = 500;
const RIGHTS: readonly FsRight[] = ['read', 'list', 'search', 'write', 'remove'];

/** The caps of pieces. `root` is the directory where programs run. */
export function capsOf(pieces: readonly Piece[], root: string): readonly MadeCap[] {
  const names = new Names();
  const groups = new Map<string, Piece[]>();
  for (const piece of pieces) {
    const key = keyOf(piece);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [piece]);
    else group.push(piece);
  }
  const of = (kind: Piece['kind']) => [...groups.values()].filter(([first]) => first?.kind === kind);
  const made: MadeCap[] = [];
  const add = (wanted: string, group: readonly Piece[], cap: Cap): void => {
    const { how } = group[0] as Piece;
    const whole: Cap | Ask = how === 'ask' ? { ...cap, offer: { uses: 1 } } : cap;
    made.push({
      name: names.next(how === 'ask' ? `${wanted}-ask` : wanted),
      how,
      cap: whole,
      rules: [...new Set(group.map(({ rule }) => rule))],
    });
  };
  for (const group of of('fs')) add(fsName(group), group, fsCap(group));
  // A program sees the directory where the other agent ran it, and a directory of the agent is not widened by it.
  for (const group of of('command'))
    for (const cap of commandCaps(group)) add(nameOf(cap.command), group, { ...cap, cwd: root });
  for (const group of of('http')) {
    const { host } = group[0] as Extract<Piece, { kind: 'http' }>;
    add(host, group, { http: `https://${host}/`, methods: ['GET'] });
  }
  for (const group of of('mcp')) {
    const all = group as Extract<Piece, { kind: 'mcp' }>[];
    const server = all[0]?.server ?? '';
    const cap: McpCap = { mcp: server, tools: [...new Set(all.map(({ tool }) => tool))] };
    add(server, group, cap);
  }
  return made;
}

function keyOf(piece: Piece): string {
  switch (piece.kind) {
    case 'command':
      return JSON.stringify(['command', piece.how, piece.program, piece.reads]);
    case 'fs':
      return JSON.stringify(['fs', piece.how, fsText(piece.directory), piece.except]);
    case 'http':
      return JSON.stringify(['http', piece.how, piece.host]);
    case 'mcp':
      return JSON.stringify(['mcp', piece.how, piece.server]);
  }
}

type FsPiece = Extract<Piece, { kind: 'fs' }>;

function fsName(group: readonly Piece[]): string {
  const { directory } = group[0] as FsPiece;
  return directory.names.at(-1) ?? directory.root;
}

function fsCap(group: readonly Piece[]): FsCap {
  const all = group as readonly FsPiece[];
  const { directory, except } = all[0] as FsPiece;
  const can = RIGHTS.filter((right) => all.some(({ rights }) => rights.includes(right)));
  return { fs: fsText(directory), can, ...(except.length === 0 ? {} : { except }) };
}

function commandCaps(group: readonly Piece[]): readonly CommandCap[] {
  const all = group as readonly Extract<Piece, { kind: 'command' }>[];
  const texts = all.flatMap(({ rows }) => rows.flatMap(rowTexts));
  const rows = [...new Map(texts.map((row) => [JSON.stringify(row), row])).values()];
  const command = all[0]?.program ?? '';
  return Array.from({ length: Math.ceil(rows.length / MOST_ROWS) }, (_, n) => ({
    command,
    argv: rows.slice(n * MOST_ROWS, (n + 1) * MOST_ROWS),
  }));
}

/** A row as a manifest writes it. Words with signs of the grammar stand alone, with `=` before them. */
function rowTexts(row: readonly Word[]): readonly (readonly string[])[] {
  const places = row.map((word): readonly string[] => {
    if (word.kind === 'literal')
      return word.texts.every(isPlainWord)
        ? [word.texts.join('|')]
        : word.texts.map((text) => (isPlainWord(text) ? text : `=${text}`));
    return [word.kind === 'flags' ? `flags(${word.set})` : word.kind];
  });
  return products(places, Number.POSITIVE_INFINITY) ?? [];
}

/** Names that nobody takes for each other. */
class Names {
  readonly #taken = new Set<string>();

  next(wanted: string): string {
    const plain =
      wanted
        .replace(/[^A-Za-z0-9_-]+/g, '-')
        .replace(/^[^A-Za-z]+|-+$/g, '')
        .slice(0, 48) || 'cap';
    for (let n = 1; ; n += 1) {
      const name = n === 1 ? plain : `${plain}-${n}`;
      const look = skeleton(name);
      if (this.#taken.has(look)) continue;
      this.#taken.add(look);
      return name;
    }
  }
}
