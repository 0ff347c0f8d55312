/** The published package ships no declarations; this is the part of it that we call. */
declare module '@endo/captp' {
  /** Two ends in one process, for tests. */
  export function makeLoopback(ourId: string): {
    makeFar(x: unknown): Promise<unknown>;
    makeNear(x: unknown): Promise<unknown>;
  };
  export function makeCapTP(
    ourId: string,
    send: (message: Record<string, unknown>) => void,
    bootstrap?: unknown,
    options?: {
      readonly onReject?: (error: unknown) => void;
      readonly gcImports?: boolean;
      readonly exportHook?: (value: unknown, slot: string) => void;
    },
  ): {
    abort(reason?: unknown): void;
    dispatch(message: unknown): boolean;
    getBootstrap(): Promise<unknown>;
  };
}
