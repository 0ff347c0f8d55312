/** The public face of `@hob/mcp`: the verbs of a session, as MCP lists and calls them. */
export type { CallOptions, Definition, Face } from './face/face.ts';
export { type FaceOptions, openFace } from './open-face.ts';
export type { Answer, Data } from './text/answer.ts';
export { toJson } from './text/json.ts';
export type { RecordSchema } from './verbs/arguments.ts';
export type { Held, HeldSession } from './verbs/session.ts';
