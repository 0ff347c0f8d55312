/** A wrapper between an editor and agents of ACP: each session of the editor is a session of Hob. */

export type { Asked, EditorGranter, Held, HeldSession, Reach, Said, Terms } from './held.ts';
export { type Option, optionsOf, saidBy } from './options.ts';
export type { Pipe } from './peer.ts';
export type { Agent, Work, WrapOptions } from './work.ts';
export { wrap } from './wrap.ts';
