/** The public face of `@hob/caps-fs`. */
export type { ByteSink, ByteSource } from './bytes.ts';
export { unifiedDiff } from './diff.ts';
export type { FsCap, Stat } from './fs-cap.ts';
export { type Mountable, mountable } from './mountable.ts';
export { backendInfo, openFsCap } from './open.ts';
