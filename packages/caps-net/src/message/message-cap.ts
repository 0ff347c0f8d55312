/** The interface of a message cap, and what an adapter brings. */

/** Messages to one recipient or channel. */
export interface MessageCap {
  /**
   * Makes a draft: the message as it will arrive, with the digest of its bytes. Nothing is sent. A draft lasts an hour and
   * not over a restart. Errors: `E_MESSAGE`, `invalid`, `limit`.
   */
  draft(text: string, options?: DraftOptions): Promise<Draft>;
  /**
   * Sends exactly the bytes of the draft, once. A draft that was sent, or tried, is gone: make a new one.
   *
   * Errors: `E_DRAFT`: no such draft, or it is not as it was made; nothing was sent. `E_UNREACHABLE`, `E_ADDRESS`, `E_TLS`:
   * not handed over. `E_REFUSED`: the server refuses it. `unknown-outcome`: handed over, and no answer came.
   */
  send(draft: Draft): Promise<Sent>;
  /** The kind of channel, and the recipient. */
  describe(): Promise<Channel>;
}

/** The options of a draft. */
export interface DraftOptions {
  readonly subject?: string;
  readonly attachments?: readonly Attachment[];
}

/** A file that goes with a message. */
export interface Attachment {
  readonly name: string;
  /** Default `application/octet-stream`. */
  readonly type?: string;
  readonly data: string | Uint8Array;
}

/** Where the messages of a cap go. */
export interface Channel {
  readonly kind: string;
  readonly recipient: string;
}

/** A message that is made and not sent, as data: so an approval shows all of it. */
export interface Draft extends Channel {
  /** Of this draft alone. */
  readonly id: string;
  /** SHA-256 of the bytes that are handed over, in hex. */
  readonly digest: string;
  readonly subject: string;
  readonly text: string;
  readonly attachments: readonly DraftAttachment[];
}

/** A file of a draft, as data. */
export interface DraftAttachment {
  readonly name: string;
  readonly type: string;
  /** Its size. */
  readonly bytes: number;
  /** SHA-256 of its bytes, in hex. */
  readonly digest: string;
  /** The first 4,000 characters, if its bytes are text (UTF-8). */
  readonly text?: string;
}

/** A message that was handed over. */
export interface Sent {
  readonly id: string;
  readonly digest: string;
  /** The reply of the server, in short; it may be empty. */
  readonly receipt: string;
}

/** A message as it was checked: line ends are `\n`, and nothing in it is invisible in a header. */
export interface Message {
  readonly id: string;
  readonly subject: string;
  readonly text: string;
  readonly attachments: readonly { readonly name: string; readonly type: string; readonly data: Uint8Array }[];
}

/** The way to one recipient. The host makes it. */
export interface MessageAdapter extends Channel {
  /** The bytes that will be handed over. */
  render(message: Message): Promise<Uint8Array>;
  /**
   * Hands them over, once. It calls `leaving` before the first byte that may have its effect. Returns a short receipt.
   * Errors: a `CapError`.
   */
  deliver(bytes: Uint8Array, message: Message, hand: { readonly signal: AbortSignal; leaving(): void }): Promise<string>; // biome-ignore format: one line
}
