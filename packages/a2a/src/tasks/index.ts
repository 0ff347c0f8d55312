/** `@hob/a2a/tasks`: tasks of other agents, each in a session of its own. */
export { type TaskRows, TaskRowsActor, taskDefinitions } from './rows.ts';
export { type Asked, type AskedCall, isEnd, type Task, type TaskOutput, type TaskRow, type TaskState } from './task.ts';
export { LiveTask, type Sent, Tasks, type TasksParts, type TaskWork } from './tasks.ts';
