/**
 * Checks in the browser that the host has signed checkpoints of the ledger, and that they are of the lines that are here.
 *
 * Promise: a checkpoint counts only with a signature by the key of the first line. Where every line before it is here, the
 * root of the tree over them (RFC 6962) is compared, too. After a line of another granter only signatures can be checked.
 */

/** The powers of the browser for this. */
export interface CheckPowers {
  readonly digest: (bytes: Uint8Array) => Promise<Uint8Array>;
  /** Whether `signature` is by the Ed25519 key. */
  readonly signed: (key: Uint8Array, signature: Uint8Array, text: Uint8Array) => Promise<boolean>;
}

interface CheckpointVerdict {
  /** Checkpoints with a good signature. */
  readonly signed: number;
  /** Those whose tree was computed from the lines that are here, and is the same. */
  readonly compared: number;
  /** The number of the first line whose checkpoint is bad, or the first line if it names no key. */
  readonly bad: number | undefined;
}

const NOTE = /^([^\n]+)\n(0|[1-9]\d{0,15})\n([A-Za-z0-9+/]{43}=)\n\n((?:— \S+ \S+\n)+)$/;
const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const bytesOf = (base64: string): Uint8Array => Uint8Array.from(atob(base64), (each) => each.charCodeAt(0));
const base64Of = (bytes: Uint8Array): string => btoa(String.fromCharCode(...bytes));

interface Key {
  readonly name: string;
  readonly bytes: Uint8Array;
}

function keyOf(text: unknown): Key | undefined {
  const [, name, encoded] = /^([^\s+]{1,200})\+[0-9a-f]{8}\+([A-Za-z0-9+/]{44})$/.exec(String(text)) ?? [];
  if (name === undefined || encoded === undefined) return undefined;
  const typed = bytesOf(encoded);
  return typed.length === 33 && typed[0] === 1 ? { name, bytes: typed.slice(1) } : undefined;
}

interface Note {
  readonly size: number;
  readonly root: string;
}

/** The text of the note without its signatures was signed by the key. */
async function noteOf(note: unknown, key: Key, { signed }: CheckPowers): Promise<Note | undefined> {
  const [text, origin, size, root, signatures] = NOTE.exec(String(note)) ?? [];
  if (text === undefined || signatures === undefined || root === undefined || origin !== key.name) return undefined;
  const body = utf8(text.slice(0, text.length - signatures.length - 1));
  for (const line of signatures.split('\n')) {
    const [, name, encoded = ''] = line.split(' ');
    if (name !== key.name || !/^[A-Za-z0-9+/]{91}=$/.test(encoded)) continue;
    if (await signed(key.bytes, bytesOf(encoded).slice(4), body)) return { size: Number(size), root };
  }
  return undefined;
}

/** The tree over the lines so far: the roots of its complete parts, the largest first. */
class Tree {
  readonly #digest: CheckPowers['digest'];
  readonly #roots: Uint8Array[] = [];
  size = 0;

  constructor(digest: CheckPowers['digest']) {
    this.#digest = digest;
  }

  async add(line: string): Promise<void> {
    let hash = await this.#digest(new Uint8Array([0, ...utf8(line)]));
    for (let n = this.size; n % 2 === 1; n = (n - 1) / 2)
      hash = await this.#node(this.#roots.pop() as Uint8Array, hash);
    this.#roots.push(hash);
    this.size += 1;
  }

  async root(): Promise<string> {
    let hash = this.#roots.at(-1) ?? (await this.#digest(new Uint8Array()));
    for (const left of this.#roots.slice(0, -1).reverse()) hash = await this.#node(left, hash);
    return base64Of(hash);
  }

  #node(left: Uint8Array, right: Uint8Array): Promise<Uint8Array> {
    return this.#digest(new Uint8Array([1, ...left, ...right]));
  }
}

export async function checkpointsOf(lines: readonly string[], powers: CheckPowers): Promise<CheckpointVerdict> {
  const tree = new Tree(powers.digest);
  let key: Key | undefined;
  let signed = 0;
  let compared = 0;
  for (const text of lines) {
    const line = fieldsOf(text);
    const seq = Number(line['seq']);
    if (seq === 1) key = keyOf(line['key']);
    if (key === undefined) return { signed, compared, bad: seq };
    if (line['k'] === 'checkpoint') {
      const note = await noteOf(line['note'], key, powers);
      if (note === undefined || note.size !== seq - 1) return { signed, compared, bad: seq };
      signed += 1;
      if (tree.size === seq - 1) {
        if ((await tree.root()) !== note.root) return { signed, compared, bad: seq };
        compared += 1;
      }
    }
    if (tree.size === seq - 1) await tree.add(text);
  }
  return { signed, compared, bad: undefined };
}

function fieldsOf(text: string): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return {};
  }
}
