/** The interface between the host and a guest's process. */

/** One program and everything that it gets. */
export interface Order {
  readonly source: string;
  readonly caps: Readonly<Record<string, object>>;
  readonly outputBytes: number;
}

/** How a program ended. `failed` is a text for the model, with the line and the remedy. */
export type Outcome = { readonly value: unknown } | { readonly failed: string; readonly code: string };

/** The bootstrap object of a guest's process. */
export interface Runner {
  run(order: Order): Promise<Outcome>;
}
