/** The address of the module of the cluster's thread. */
export const MEMBER_THREAD: URL = new URL('./member-thread.ts', import.meta.url);
