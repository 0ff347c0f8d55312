/** Where the module of the store's thread lies. */
export const STORE_THREAD: URL = new URL('./store-thread.ts', import.meta.url);
