/**
 * The Merkle tree of RFC 6962 over the lines. Only the frontier is kept: the roots of the complete subtrees,
 * largest first, one for each 1 in the binary form of the size. That is at most 53 hashes, and two hashings
 * for each line.
 *
 * A chain alone can show a change. With the tree, others can build proofs that a line is in the ledger, or
 * that one checkpoint continues another. Such a proof has a few hashes and does not need the ledger.
 */
import { digest } from '../drivers/hash.ts';

const HASH = 32;

export class Tree {
  #size: number;
  readonly #roots: string[]; // one character for each byte, as `digest` returns them

  private constructor(size: number, roots: string[]) {
    this.#size = size;
    this.#roots = roots;
  }

  static empty(): Tree {
    return new Tree(0, []);
  }

  /** Rebuilds a tree of this size from the result of `pack`. Returns undefined if the sizes do not fit. */
  static unpack(size: number, packed: Uint8Array): Tree | undefined {
    let ones = 0;
    for (let rest = size; rest > 0; rest = Math.floor(rest / 2)) ones += rest % 2;
    if (packed.length !== ones * HASH) return undefined;
    return new Tree(
      size,
      Array.from({ length: ones }, (_, i) => Buffer.from(packed.subarray(i * HASH, (i + 1) * HASH)).toString('latin1')),
    );
  }

  get size(): number {
    return this.#size;
  }

  copy(): Tree {
    return new Tree(this.#size, [...this.#roots]);
  }

  add(bytes: Uint8Array): void {
    let hash = leaf(bytes);
    // Like adding 1 in binary: each carry joins two trees of the same size.
    for (let n = this.#size; n % 2 === 1; n = (n - 1) / 2) hash = node(this.#roots.pop() as string, hash);
    this.#roots.push(hash);
    this.#size += 1;
  }

  root(): Uint8Array {
    const last = this.#roots.length - 1;
    let hash = this.#roots[last] ?? digest(new Uint8Array(0));
    for (let i = last - 1; i >= 0; i -= 1) hash = node(this.#roots[i] as string, hash);
    return new Uint8Array(Buffer.from(hash, 'latin1'));
  }

  pack(): Uint8Array {
    return new Uint8Array(Buffer.from(this.#roots.join(''), 'latin1'));
  }
}

// Reused for each line, so a line costs no memory but its hash. The first byte tells leaves from inner nodes.
let forLeaf = new Uint8Array(16 * 1024);
const forNode = Buffer.alloc(1 + 2 * HASH);
forNode[0] = 1;

function leaf(bytes: Uint8Array): string {
  if (bytes.length >= forLeaf.length) forLeaf = new Uint8Array(2 * bytes.length);
  forLeaf.set(bytes, 1);
  return digest(forLeaf.subarray(0, bytes.length + 1));
}

function node(left: string, right: string): string {
  forNode.write(left, 1, 'latin1');
  forNode.write(right, 1 + HASH, 'latin1');
  return digest(forNode);
}
