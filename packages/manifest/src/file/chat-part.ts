/** A chat, as a manifest writes it. */

/** A chat of one granter. It has one of `telegram` and `webhook`. */
export interface ChatPart {
  /** The name of the secret with the token of a bot of Telegram. */
  readonly telegram?: string | undefined;
  /** The number of the person, who has written to the bot. */
  readonly user?: number | undefined;
  /** The address of the bot API, if it is not the usual one. */
  readonly api?: string | undefined;
  /** Where requests are posted, signed. */
  readonly webhook?: string | undefined;
  /** The name of the secret with the key of the webhook. */
  readonly secret?: string | undefined;
  /** Whose answers count, as the program behind the webhook names them. */
  readonly sender?: string | undefined;
  /** The granter whose requests are shown, and in whose name they are answered. Without it: the first one. */
  readonly granter?: string | undefined;
}
