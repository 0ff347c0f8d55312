/** JSON with comments, YAML and TOML as values that know their lines. */
import { type ValueNode as JsonNode, parse as parseJson } from '@humanwhocodes/momoa';
import { parseTOML, type AST as Toml } from 'toml-eslint-parser';
import { type Document, isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseAllDocuments, visit } from 'yaml';
import { type Entry, record, Unreadable, type Value } from './value.ts';

/** Reads JSON with comments and trailing commas. */
export function readJson(text: string): Value {
  try {
    return ofJson(parseJson(text, { mode: 'jsonc', allowTrailingCommas: true }).body);
  } catch (error) {
    if (error instanceof Unreadable || error instanceof RangeError) throw error;
    const { line = 1, column = 1, message } = error as { line?: number; column?: number; message: string };
    const why = message.replace(/ \(\d+:\d+\)$/, '').slice(0, 120);
    throw new Unreadable({ line, column }, `this is not JSON (${why})`, 'mend the line: a comma, a quote or a bracket');
  }
}

function ofJson(node: JsonNode): Value {
  const { line } = node.loc.start;
  switch (node.type) {
    case 'Object': {
      const entries = node.members.map((member): Entry => {
        const key = member.name.type === 'String' ? member.name.value : member.name.name;
        return { key, line: member.name.loc.start.line, value: ofJson(member.value) };
      });
      return record(line, entries);
    }
    case 'Array':
      return { kind: 'list', line, items: node.elements.map(({ value }) => ofJson(value)) };
    case 'String':
    case 'Number':
    case 'Boolean':
      return { kind: 'scalar', line, value: node.value };
    case 'Null':
      return { kind: 'scalar', line, value: null };
    default:
      throw new Unreadable(
        { line },
        'this is not JSON (a value that JSON has not)',
        'write a text, number, list or record',
      );
  }
}

/** More nodes than this come only of aliases that name each other. */
const MOST_NODES = 100_000;

/** Reads YAML 1.1, as Hermes does: `off` is false. An alias stands for its value. */
export function readYaml(text: string): Value {
  const lines = new LineCounter();
  const documents = parseAllDocuments(text, { lineCounter: lines, uniqueKeys: false, version: '1.1', merge: false });
  const lineAt = (offset: number): number => Math.max(lines.linePos(offset).line, 1);
  if (!Array.isArray(documents) || documents.length === 0) return { kind: 'record', line: 1, entries: [] };
  const [document, second] = documents as Document.Parsed[];
  if (second !== undefined)
    throw new Unreadable(
      { line: lineAt(second.range[0]) },
      'a second document begins here',
      'import one document a file',
    );
  const [error] = document?.errors ?? [];
  if (error !== undefined) {
    const why = (error.message.split('\n')[0] ?? '').replace(/ at line \d.*$/, '').slice(0, 120);
    throw new Unreadable(
      { line: lineAt(error.pos[0]) },
      `this is not YAML (${why})`,
      'mend the line, or its indentation',
    );
  }
  return new YamlReader(document as Document.Parsed, lineAt).value(document?.contents ?? null, []);
}

class YamlReader {
  readonly #lineAt: (offset: number) => number;
  readonly #anchors = new Map<string, Node>();
  #nodes = 0;

  constructor(document: Document.Parsed, lineAt: (offset: number) => number) {
    this.#lineAt = lineAt;
    visit(document, {
      Node: (_key, node) => {
        const { anchor } = node as { anchor?: string };
        if (anchor === undefined) return;
        // An alias means the last one before it, which a reader of the file may overlook.
        if (this.#anchors.has(anchor))
          throw new Unreadable({ line: this.#lineOf(node) }, 'this anchor stands twice', 'choose another name');
        this.#anchors.set(anchor, node);
      },
    });
  }

  /** `open` has the anchored nodes that this one lies in. */
  value(node: unknown, open: readonly unknown[], aliasLine?: number): Value {
    this.#nodes += 1;
    const line = aliasLine ?? this.#lineOf(node);
    if (this.#nodes > MOST_NODES)
      throw new Unreadable({ line }, 'aliases make this file too large', 'write the values where they are used');
    if (isAlias(node)) {
      const target = this.#anchors.get(node.source);
      if (target === undefined || open.includes(target))
        throw new Unreadable({ line }, 'this alias has no value, or contains itself', 'write the value here');
      return this.value(target, [...open, target], line);
    }
    const { tag } = (node ?? {}) as { tag?: string };
    if (tag !== undefined && !/^tag:yaml\.org,2002:(?:str|int|float|bool|null|seq|map)$/.test(tag))
      throw new Unreadable({ line }, 'a tag makes a value that cannot be seen in the file', 'write the value itself');
    if (isMap(node)) return this.#map(node, line, [...open, node]);
    if (isSeq(node)) return { kind: 'list', line, items: node.items.map((item) => this.value(item, [...open, node])) };
    const value = isScalar(node) ? node.value : null;
    const plain = ['string', 'number', 'boolean'].includes(typeof value)
      ? (value as string)
      : value === null
        ? null
        : String(value);
    return { kind: 'scalar', line, value: plain };
  }

  #map(node: { items: readonly { key: unknown; value: unknown }[] }, line: number, open: readonly unknown[]): Value {
    const own: Entry[] = [];
    const merged: Entry[] = [];
    for (const { key, value } of node.items) {
      const at = this.#lineOf(key);
      if (!isScalar(key)) throw new Unreadable({ line: at }, 'a key is no text', 'write a name');
      const name = key.value === null ? '' : String((key as { source?: string }).source ?? key.value);
      const read = this.value(value, open);
      if (name === '<<')
        for (const one of read.kind === 'list' ? read.items : [read])
          merged.push(...(one.kind === 'record' ? one.entries : []));
      else own.push({ key: name, line: at, value: read });
    }
    record(line, own);
    // A key of the record itself holds, then the first merged one.
    const entries = [...own];
    for (const entry of merged) if (!entries.some(({ key }) => key === entry.key)) entries.push(entry);
    return { kind: 'record', line, entries };
  }

  #lineOf(node: unknown): number {
    return this.#lineAt((node as Node | null)?.range?.[0] ?? 0);
  }
}

/** Reads TOML 1.0. */
export function readToml(text: string): Value {
  try {
    return ofTables(parseTOML(text).body[0]);
  } catch (error) {
    if (error instanceof Unreadable || error instanceof RangeError) throw error;
    const { lineNumber = 1, column = 0, message } = error as { lineNumber?: number; column?: number; message: string };
    const place = { line: lineNumber, column: column + 1 };
    throw new Unreadable(
      place,
      `this is not TOML (${message.slice(0, 120)})`,
      'mend the line: a quote, a bracket or a key',
    );
  }
}

/** A record that is being filled: tables of TOML come in any order. */
interface Filling {
  readonly line: number;
  readonly fields: Map<string, { readonly line: number; value: Value | Filling | Filling[] }>;
}

function ofTables(top: Toml.TOMLTopLevelTable): Value {
  const whole: Filling = { line: 1, fields: new Map() };
  for (const part of top.body) {
    if (part.type === 'TOMLKeyValue') put(whole, part);
    else {
      const { line } = part.loc.start;
      const table = tableAt(whole, part.resolvedKey, line);
      for (const field of part.body) put(table, field);
    }
  }
  return done(whole);
}

function tableAt(whole: Filling, key: readonly (string | number)[], line: number): Filling {
  let here = whole;
  for (const [n, name] of key.entries()) {
    if (typeof name === 'number') continue;
    const index = key[n + 1];
    let field = here.fields.get(name);
    if (field === undefined) {
      field = { line, value: typeof index === 'number' ? [] : { line, fields: new Map() } };
      here.fields.set(name, field);
    }
    if (Array.isArray(field.value)) {
      const at = typeof index === 'number' ? index : field.value.length - 1;
      field.value[at] ??= { line, fields: new Map() };
      here = field.value[at] as Filling;
    } else if ('fields' in field.value) here = field.value;
    else throw new Unreadable({ line }, 'this is not TOML (a value is made a table)', 'choose another key');
  }
  return here;
}

function put(table: Filling, field: Toml.TOMLKeyValue): void {
  const { line } = field.loc.start;
  const names = field.key.keys.map((key) => (key.type === 'TOMLBare' ? key.name : key.value));
  const last = names.pop() as string;
  tableAt(table, names, line).fields.set(last, { line, value: ofToml(field.value) });
}

function ofToml(node: Toml.TOMLContentNode): Value {
  const { line } = node.loc.start;
  if (node.type === 'TOMLArray') return { kind: 'list', line, items: node.elements.map(ofToml) };
  if (node.type === 'TOMLInlineTable') {
    const table: Filling = { line, fields: new Map() };
    for (const field of node.body) put(table, field);
    return done(table);
  }
  const { value } = node;
  return { kind: 'scalar', line, value: value instanceof Object || typeof value === 'bigint' ? String(value) : value };
}

function done(value: Value | Filling | Filling[]): Value {
  if (Array.isArray(value)) return { kind: 'list', line: value[0]?.line ?? 1, items: value.map(done) };
  if ('kind' in value) return value;
  const entries = [...value.fields].map(([key, field]): Entry => ({ key, line: field.line, value: done(field.value) }));
  return record(value.line, entries);
}
