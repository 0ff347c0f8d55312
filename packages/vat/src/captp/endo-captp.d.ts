/** The published package ships no declarations; this is the part of it that we call. */
declare module '@endo/captp' {
  export function makeCapTP(
    ourId: string,
    send: (message: Record<string, unknown>) => void,
    bootstrap?: unknown,
    options?: { readonly onReject?: (error: unknown) => void; readonly gcImports?: boolean },
  ): {
    abort(reason?: unknown): void;
    dispatch(message: unknown): boolean;
    getBootstrap(): Promise<unknown>;
  };
}
