/**
 * The expected outcome of the values of a random program. Nodes know nothing of sessions, tables or vats: only
 * who was told to resolve what to what, and the results of calls.
 */
import type { promise, Vat, Vats } from '../src/index.ts';
import type { Reply } from './captp-programs.ts';

export interface ObjectNode {
  readonly kind: 'object';
  readonly name: string;
  readonly party: Party;
  /** Outside the vat: what it answers with is waited for, as by any program. */
  readonly driver: boolean;
  ref: unknown;
  /** The sides that have given it back: its references there, and what went through them, may be dead. */
  released: boolean;
}
export interface PromiseNode {
  readonly kind: 'promise';
  to: Node | undefined;
  /** The answer of this message. */
  of: Sending | undefined;
}
export type Node =
  | ObjectNode
  | PromiseNode
  | { readonly kind: 'data'; readonly value: unknown; readonly inside?: Node }
  | { readonly kind: 'error'; readonly code: string };
export type Ending = Exclude<Node, PromiseNode> | { readonly kind: 'pending' | 'cycle' | 'undelivered' };

/** The final outcome of `node`. */
export function ending(node: Node, seen: Set<Node> = new Set()): Ending {
  if (node.kind !== 'promise') return node;
  if (seen.has(node)) return { kind: 'cycle' };
  seen.add(node);
  if (node.to !== undefined) return ending(node.to, seen);
  if (node.of === undefined) return { kind: 'pending' };
  const target = ending(node.of.target, seen);
  if (target.kind === 'data') return { kind: 'error', code: 'not-callable' };
  return target.kind === 'object' ? { kind: 'undelivered' } : target;
}

/**
 * Whether `node`, made to be `other`, would wait for a message that waits for it: that is no ring of
 * promises, and waits for ever. Of what is called to tell another the answer waits as it does for its target.
 */
export function deadlocks(node: Node, other: Node, byMessage: boolean = false, seen: Set<Node>[] = []): boolean {
  if (node === other) return byMessage;
  const known = (seen[byMessage ? 1 : 0] ??= new Set());
  if (node.kind !== 'promise' || known.has(node)) return false;
  known.add(node);
  const { of, to } = node;
  const waits = byMessage || (of !== undefined && mayWait(of));
  if (to !== undefined) return deadlocks(to, other, waits, seen);
  if (of === undefined) return false;
  return deadlocks(of.target, other, true, seen) || of.args.some((each) => deadlocks(each, other, waits, seen));
}

function mayWait({ target, reply }: Sending): boolean {
  const at = ending(target);
  return reply === 'tell' || at.kind !== 'object' || at.driver;
}

export interface Sending {
  readonly id: number;
  /** Messages of one sender are compared: of one party, and on whose account. */
  readonly sender: string;
  readonly payer: unknown;
  readonly party: Party;
  readonly target: Node;
  readonly handle: object;
  readonly args: readonly Node[];
  readonly reply: Reply;
  readonly then: Reply;
  readonly answer: PromiseNode;
}
export interface Holding {
  readonly real: unknown;
  readonly node: Node;
}
export interface Seen {
  readonly by: Party;
  readonly node: Node;
  readonly promise: object;
  outcome: { readonly ok: boolean; readonly value: unknown } | undefined;
  /** How many messages had been sent when it was known. */
  at: number;
}

export interface Hears {
  hear(id: number, args: unknown): unknown;
}

export type Minted = ReturnType<typeof promise<unknown>>;

export interface Party {
  readonly name: string;
  readonly vats: Vats;
  readonly vat: Vat;
  /** Promises made in a turn, so that the party pays for what is sent to them, and not the house. */
  readonly spare: Minted[];
  readonly locals: ObjectNode[];
  readonly holdings: Holding[];
  readonly minted: {
    readonly node: PromiseNode;
    readonly resolve: (to: unknown) => void;
    readonly break: (e: Error) => void;
  }[];
  /** The one reference that it has of each object of others. */
  readonly references: Map<ObjectNode, unknown>;
}
