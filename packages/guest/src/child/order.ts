/** What the host and a guest's process say to each other: the whole of it. */
/** One program, and all that it is to have. */
export interface Order {
  readonly source: string;
  readonly caps: Readonly<Record<string, object>>;
  readonly outputBytes: number;
}

/** How it ended: `failed` holds a text for the model, with the line and the remedy. */
export type Outcome = { readonly value: unknown } | { readonly failed: string; readonly code: string };

/** The bootstrap of a guest's process. */
export interface Runner {
  run(order: Order): Promise<Outcome>;
}
