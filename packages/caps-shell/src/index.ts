/** The public face of `@hob/caps-shell`. */
export type { ShellCode } from './errors.ts';
