/** The public face of `@hob/caps-fs`. */
export type { ByteSink, ByteSource } from './base/bytes.ts';
export type { FsCap, Hit, SearchReport, Stat, TextOrRefusal, Tree } from './base/fs-cap.ts';
export { changingMethods, readingMethods } from './base/methods.ts';
export { type Mountable, mountable } from './mountable.ts';
export { backendInfo, openFsCap } from './open.ts';
export { unifiedDiff } from './search/diff.ts';
