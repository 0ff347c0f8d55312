/**
 * What is the peer's: its objects, its promises, its answers to our questions. Each is a target of messages, which leave by the
 * connection when the turn that sent them is durable.
 */
import { type Barrier, later } from '../../core/barrier.ts';
import { CapError } from '../../core/errors.ts';
import { type Answer, type Message, Target } from '../../core/message.ts';
import { Account } from '../../core/meter.ts';
import type { VatPromise } from '../../core/promise.ts';
import { procedureReference } from '../../core/reference.ts';
import { disconnected, type Fence, fenced } from './fence.ts';
import type { Slot } from './operations.ts';

/** Pays for nothing: the other side has its own budgets. */
const elsewhere = new Account('peer');

/** The end of a connection that messages leave by. */
export interface PeerConnection {
  /** Pays for what the peer sends. */
  readonly account: Account;
  readonly fence: Fence;
  call(through: Remote, message: Message): void;
  /** Why nothing leaves any more. */
  readonly closed: CapError | undefined;
}

export abstract class Remote extends Target {
  readonly exit: PeerConnection;
  /** How frames name it. */
  abstract readonly slot: Slot;

  constructor(exit: PeerConnection) {
    super();
    this.exit = exit;
  }

  get fence(): Fence {
    return this.exit.fence;
  }

  get label(): string {
    return 'peer';
  }

  get account(): Account {
    return elsewhere;
  }

  near(method: string): never {
    throw new CapError(
      'not-callable',
      `"${method.slice(0, 64)}" was called on an object of a peer, which is never near: use E(reference)`,
    );
  }

  /** What the last of those that wait here waits for. */
  after: Barrier | undefined;
  /** Messages that were to go this way. */
  sent = 0;

  post(message: Message): void {
    const { after } = message;
    this.sent += 1;
    this.after = later(this.after, after);
    if (after === undefined || after.durable) return this.exit.call(this, message);
    this.fence.when(
      after,
      () => this.exit.call(this, message),
      (why) => message.fail(why),
    );
  }

  /** Takes a message that comes too late to go this way; false where it still can. */
  abstract instead(message: Message): boolean;
}

fenced(Remote, {
  post: (_remote, message) => message.answer?.break(disconnected()),
  near: 'inside',
  instead: 'inside',
});

/** An object of the peer's. */
export class Import extends Remote {
  readonly slot: Slot;
  readonly reference: object;
  released = false;

  constructor(exit: PeerConnection, id: number) {
    super(exit);
    this.slot = { kind: 'yours', id };
    this.reference = procedureReference(this);
  }

  instead(message: Message): boolean {
    if (!this.released) return false;
    message.fail(new CapError('no-such-object', 'this reference was released: ask for a new one'));
    return true;
  }
}

/** A promise of the peer's: what is sent to it goes there until it is known what it became. */
export class ImportedPromise extends Remote {
  readonly slot: Slot;
  readonly vow: VatPromise;
  mentions = 0;
  /** The peer has said what it became, which may have to wait. */
  decided = false;
  over = false;

  constructor(exit: PeerConnection, id: number, vow: VatPromise) {
    super(exit);
    this.slot = { kind: 'yours', id };
    this.vow = vow;
  }

  instead(message: Message): boolean {
    if (!this.over) return false;
    this.vow.post(message);
    return true;
  }
}

/** An answer of ours, or of the host program, that messages may follow. */
export interface Asked extends Answer {
  along?(path: Target): void;
  hold?(becoming?: VatPromise): void;
  /** Whether `vow` can be settled only once this is. */
  awaitedBy?(vow: VatPromise): boolean;
  post?(message: Message): void;
}

/** A question of ours. */
export class Question extends Remote {
  readonly slot: Slot;
  readonly answer: Asked;
  decided = false;
  over = false;

  constructor(exit: PeerConnection, id: number, answer: Asked) {
    super(exit);
    this.slot = { kind: 'answer', id };
    this.answer = answer;
  }

  instead(message: Message): boolean {
    if (!this.over) return false;
    if (this.answer.post === undefined) message.fail(this.exit.closed);
    else this.answer.post(message);
    return true;
  }
}
