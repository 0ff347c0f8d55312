/** The interface between the host and a guest's process. */

/** One program and everything that it gets. */
export interface RunRequest {
  readonly source: string;
  readonly caps: Readonly<Record<string, object>>;
  readonly outputBytes: number;
}

/** How a program ended. `failed` is a text for the model, with the line and the remedy. */
export type RunOutcome = { readonly value: unknown } | { readonly failed: string; readonly code: string };

/** The bootstrap object of a guest's process. */
export interface Runner {
  run(order: RunRequest): Promise<RunOutcome>;
}
