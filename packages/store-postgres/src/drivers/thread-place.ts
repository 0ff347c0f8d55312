/** The address of the module of the store's thread. */
export const STORE_THREAD: URL = new URL('./store-thread.ts', import.meta.url);
