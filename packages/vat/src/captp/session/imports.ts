/**
 * Everything that belongs to the peer: its objects, its promises and its answers to our questions. Each is a
 * target of messages. A message leaves by the connection when the turn that sent it is durable.
 */
import { type Barrier, later } from '../../core/barrier.ts';
import { CapError } from '../../core/errors.ts';
import { type Message, type ResultSink, type Severable, Target } from '../../core/message.ts';
import { Account } from '../../core/meter.ts';
import type { VatPromise } from '../../core/promise.ts';
import { procedureReference } from '../../core/reference.ts';
import { disconnected, type Fence, fenced } from './fence.ts';
import type { Slot } from './operations.ts';

/** Accounts for targets of a peer. It has no limits, because the peer has its own budgets. */
const elsewhere = new Account('peer');

/** The connection, as a remote target sees it. */
export interface PeerConnection extends Severable {
  /** Pays for the messages of the peer. */
  readonly account: Account;
  readonly fence: Fence;
  call(through: Remote, message: Message): void;
  /** Set when the connection is closed. Every new message rejects with this error. */
  readonly closed: CapError | undefined;
}

export abstract class Remote extends Target {
  readonly connection: PeerConnection;
  /** The slot that frames use for it. */
  abstract readonly slot: Slot;

  constructor(connection: PeerConnection) {
    super();
    this.connection = connection;
  }

  get fence(): Fence {
    return this.connection.fence;
  }

  get label(): string {
    return 'peer';
  }

  get account(): Account {
    return elsewhere;
  }

  override get severable(): Severable {
    return this.connection;
  }

  near(method: string): never {
    throw new CapError(
      'not-callable',
      `"${method.slice(0, 64)}" was called on an object of a peer, which is never near: use E(reference)`,
    );
  }

  /** The barrier of the last waiting message. */
  after: Barrier | undefined;
  /** Count of messages posted here. */
  sent = 0;

  post(message: Message): void {
    const { after } = message;
    this.sent += 1;
    this.after = later(this.after, after);
    if (after === undefined || after.durable) return this.connection.call(this, message);
    this.fence.when(
      after,
      () => this.connection.call(this, message),
      (why) => message.fail(why),
    );
  }

  /** Takes over a message that can no longer go to the peer. Returns false if it still can. */
  abstract redirect(message: Message): boolean;
}

fenced(Remote, {
  post: (_remote, message) => message.answer?.break(disconnected()),
  near: 'inside',
  shows: 'inside',
  keptIn: 'inside',
  redirect: 'inside',
});

const wasReleased = (): CapError => new CapError('no-such-object', 'this reference was released: ask for a new one');

/** An object of the peer. */
export class Import extends Remote {
  readonly slot: Slot;
  readonly reference: object;
  released = false;

  constructor(connection: PeerConnection, id: number) {
    super(connection);
    this.slot = { kind: 'yours', id };
    this.reference = procedureReference(this);
  }

  override get ended(): CapError | undefined {
    return this.connection.closed ?? (this.released ? wasReleased() : undefined);
  }

  redirect(message: Message): boolean {
    if (!this.released) return false;
    message.fail(wasReleased());
    return true;
  }
}

/** A promise of the peer. Messages to it go to the peer until it is settled. */
export class ImportedPromise extends Remote {
  readonly slot: Slot;
  readonly vatPromise: VatPromise;
  mentions = 0;
  /** The peer has sent the resolution. Settling may still have to wait. */
  decided = false;
  settled = false;

  constructor(connection: PeerConnection, id: number, vatPromise: VatPromise) {
    super(connection);
    this.slot = { kind: 'yours', id };
    this.vatPromise = vatPromise;
  }

  redirect(message: Message): boolean {
    if (!this.settled) return false;
    this.vatPromise.post(message);
    return true;
  }
}

/** An answer of ours or of the host program, to which messages can be pipelined. */
export interface Asked extends ResultSink {
  along?(path: Target): void;
  hold?(becoming?: VatPromise): void;
  /** True if `promise` can settle only after this answer does. */
  awaitedBy?(promise: VatPromise): boolean;
  post?(message: Message): void;
}

/** A question of ours. */
export class Question extends Remote {
  readonly slot: Slot;
  readonly answer: Asked;
  decided = false;
  settled = false;

  constructor(connection: PeerConnection, id: number, answer: Asked) {
    super(connection);
    this.slot = { kind: 'answer', id };
    this.answer = answer;
  }

  redirect(message: Message): boolean {
    if (!this.settled) return false;
    if (this.answer.post === undefined) message.fail(this.connection.closed);
    else this.answer.post(message);
    return true;
  }
}
