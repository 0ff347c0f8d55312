/** The public face of `@hob/mcp`: the verbs of a session, as MCP lists and calls them. */
export { type Definition, Face, type HeldSession, openFace } from './face/face.ts';
export type { Answer, Data } from './text/answer.ts';
export type { RecordSchema } from './verbs/arguments.ts';
