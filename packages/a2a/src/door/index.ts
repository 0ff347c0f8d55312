/** `@hob/a2a/door`: the methods of A2A over HTTP, for tasks of other agents. It loads the server of the SDK. */
export { type TaskFace, type TaskFaceParts, taskFace } from './face.ts';
