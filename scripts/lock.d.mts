/** Runs `body` while no other process holds the lock `file`. `onWait` is called once if it has to wait. */
export declare function withLock<T>(
  file: string,
  onWait: (owner: { readonly pid: number }) => void,
  body: () => T | Promise<T>,
): Promise<T>;
