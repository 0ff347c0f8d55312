/** Messages and tasks as A2A 1.0 writes them. */
import type { Message, Part, StreamResponse, Task as TaskMessage } from '@a2a-js/sdk';
import type { Asked, AskedCall, Task, TaskState } from '../tasks/task.ts';
import type { Sent } from '../tasks/tasks.ts';
import { errors, timeText } from './drivers/sdk.ts';

/** `TaskState` of A2A. */
const STATES: Readonly<Record<TaskState, number>> = {
  working: 2,
  completed: 3,
  failed: 4,
  canceled: 5,
  rejected: 7,
  'auth-required': 8,
};
const AGENT = 2;

const LONGEST_TEXT = 64 << 10;
const LONGEST_ID = 200;
const NO_PARTS = 'a task has text, or one data part {"cap": "name", "method": "name", "args": [...]}';

/** Reads the message of a peer. Errors: `RequestMalformedError`. */
export function readMessage(message: Message | undefined): Sent {
  if (message === undefined) throw new errors.RequestMalformedError('the request has no message');
  const { messageId, contextId, parts } = message;
  for (const id of [messageId, contextId])
    if (typeof id !== 'string' || id.length > LONGEST_ID)
      throw new errors.RequestMalformedError(`an id is a text of at most ${LONGEST_ID} characters`);
  if (messageId === '') throw new errors.RequestMalformedError('the message has no messageId');
  return { message: messageId, ...(contextId === '' ? {} : { context: contextId }), asked: readParts(parts) };
}

function readParts(parts: readonly Part[]): Asked {
  const texts: string[] = [];
  const calls: AskedCall[] = [];
  for (const { content } of parts) {
    if (content?.$case === 'text' && typeof content.value === 'string') texts.push(content.value);
    else if (content?.$case === 'data') calls.push(readCall(content.value));
    else throw new errors.RequestMalformedError(NO_PARTS);
  }
  const text = texts.join('\n').toWellFormed();
  if (text.length > LONGEST_TEXT)
    throw new errors.RequestMalformedError(`the text of a task may have ${LONGEST_TEXT} characters: shorten it`);
  const [call, ...more] = calls;
  if (more.length > 0 || (call === undefined && text.trim() === '')) throw new errors.RequestMalformedError(NO_PARTS);
  return { text, ...(call === undefined ? {} : { call }) };
}

function readCall(value: unknown): AskedCall {
  const { cap, method, args = [], ...more } = (value ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof cap !== 'string' || typeof method !== 'string' || !Array.isArray(args) || Object.keys(more).length > 0)
    throw new errors.RequestMalformedError(NO_PARTS);
  return { cap, method, args };
}

const partOf = (content: NonNullable<Part['content']>, mediaType: string): Part => ({
  ...{ content, mediaType },
  ...{ filename: '', metadata: undefined },
});

/** The task as its peer reads it. `status.message` has the sentence, and the ids of requests as data. */
export function taskOf({ row, output }: Task): TaskMessage {
  const { id, context, state, at, said, requests = [] } = row;
  const waits = `${requests.join(', ')} ${requests.length === 1 ? 'waits' : 'wait'} for a person at the host. The task goes on by itself after a yes.`; // biome-ignore format: one line
  const sentence = state === 'auth-required' ? waits : said;
  const parts = sentence === undefined ? [] : [partOf({ $case: 'text', value: sentence }, 'text/plain')];
  if (state === 'auth-required') parts.push(partOf({ $case: 'data', value: { requests } }, 'application/json'));
  const message: Message = {
    ...{ messageId: `${id}-${at}`, contextId: context, taskId: id, role: AGENT, parts },
    ...{ metadata: undefined, extensions: [], referenceTaskIds: [] },
  };
  return {
    id,
    contextId: context,
    status: {
      state: STATES[state],
      message: parts.length === 0 ? undefined : message,
      timestamp: timeText(at),
    },
    artifacts: output === undefined ? [] : [artifactOf(output)],
    ...{ history: [], metadata: undefined },
  };
}

function artifactOf(output: NonNullable<Task['output']>): TaskMessage['artifacts'][number] {
  const part =
    'text' in output
      ? partOf({ $case: 'text', value: output.text }, 'text/plain')
      : partOf({ $case: 'data', value: { value: output.value } }, 'application/json');
  return { artifactId: 'result', name: 'result', description: '', parts: [part], metadata: undefined, extensions: [] };
}

/** The messages of a stream about a change of a task: its result, and its new state. */
export function changesOf(task: Task): readonly StreamResponse[] {
  const { id: taskId, contextId, status, artifacts } = taskOf(task);
  const about = { taskId, contextId, metadata: undefined };
  return [
    ...artifacts.map(
      (artifact): StreamResponse => ({
        payload: { $case: 'artifactUpdate', value: { ...about, artifact, append: false, lastChunk: true } },
      }),
    ),
    { payload: { $case: 'statusUpdate', value: { ...about, status } } },
  ];
}
