/** The methods of A2A 1.0, for peers that are known. */
import type {
  AgentCard,
  ListTasksRequest,
  ListTasksResponse,
  SendMessageRequest,
  StreamResponse,
  Task as TaskMessage,
} from '@a2a-js/sdk';
import { CapError } from '@hob/vat';
import { isEnd, type Task } from '../tasks/task.ts';
import { LiveTask, type Tasks } from '../tasks/tasks.ts';
import { type A2ARequestHandler, errors, type ServerCallContext, timeOf } from './drivers/sdk.ts';
import { changesOf, readMessage, taskOf } from './wire.ts';

const MOST_LISTED = 100;
const USUALLY_LISTED = 50;

/** Serves the methods of A2A. A peer reads its own tasks only. */
export class Desk implements A2ARequestHandler {
  readonly #card: AgentCard;
  readonly #tasks: Tasks;

  constructor(card: AgentCard, tasks: Tasks) {
    this.#card = card;
    this.#tasks = tasks;
  }

  async getAgentCard(): Promise<AgentCard> {
    return this.#card;
  }

  getAuthenticatedExtendedAgentCard(): Promise<AgentCard> {
    return refused(new errors.ExtendedAgentCardNotConfiguredError('there is no other card'));
  }

  /** Returns when the task is over or waits for a person; at once if the peer says so. */
  async sendMessage(params: SendMessageRequest, context: ServerCallContext): Promise<TaskMessage> {
    const task = await this.#send(params, context);
    if (params.configuration?.returnImmediately !== true)
      while (task instanceof LiveTask && task.row.state === 'working') await task.changed;
    return taskOf(task);
  }

  async *sendMessageStream(params: SendMessageRequest, context: ServerCallContext): Stream {
    yield* streamOf(await this.#send(params, context));
  }

  async *resubscribe({ id }: { readonly id: string }, context: ServerCallContext): Stream {
    const task = await this.#find(id, context);
    if (isEnd(task.row.state)) throw new errors.UnsupportedOperationError('the task is over: get it');
    yield* streamOf(task);
  }

  async getTask({ id }: { readonly id: string }, context: ServerCallContext): Promise<TaskMessage> {
    return taskOf(await this.#find(id, context));
  }

  async listTasks(params: ListTasksRequest, context: ServerCallContext): Promise<ListTasksResponse> {
    const { contextId, status, pageSize = USUALLY_LISTED, pageToken, statusTimestampAfter } = params;
    const after = statusTimestampAfter === undefined ? 0 : timeOf(statusTimestampAfter);
    if (!(pageSize >= 1 && pageSize <= MOST_LISTED) || Number.isNaN(after) || !/^\d{0,4}$/.test(pageToken))
      throw new errors.RequestMalformedError(`a page has 1 to ${MOST_LISTED} tasks; give pageToken as it came`);
    const rows = (await this.#tasks.of(peerOf(context))).filter(
      ({ context: of, at, ...row }) =>
        (contextId === '' || of === contextId) && at >= after && (!status || taskOf({ row: { ...row, context: of, at } }).status?.state === status), // biome-ignore format: one line
    );
    const from = Number(pageToken);
    const page = rows.slice(from, from + pageSize);
    const tasks = page.map((row) => taskOf({ row }));
    const next = from + page.length < rows.length ? String(from + page.length) : '';
    return { tasks, nextPageToken: next, pageSize, totalSize: rows.length };
  }

  async cancelTask({ id }: { readonly id: string }, context: ServerCallContext): Promise<TaskMessage> {
    await this.#find(id, context);
    const task = await this.#tasks.cancel(peerOf(context), id);
    if (task === undefined) throw new errors.TaskNotCancelableError('the task is over');
    return taskOf(task);
  }

  createTaskPushNotificationConfig(): Promise<never> {
    return noPush();
  }

  getTaskPushNotificationConfig(): Promise<never> {
    return noPush();
  }

  listTaskPushNotificationConfigs(): Promise<never> {
    return noPush();
  }

  deleteTaskPushNotificationConfig(): Promise<never> {
    return noPush();
  }

  async #send({ message }: SendMessageRequest, context: ServerCallContext): Promise<Task> {
    if (message?.taskId)
      throw new errors.UnsupportedOperationError(
        'a task takes one message: it goes on by itself after a yes, and other work is a new task',
      );
    try {
      return await this.#tasks.send(peerOf(context), readMessage(message));
    } catch (error) {
      throw error instanceof CapError && error.code === 'limit' ? new errors.UnsupportedOperationError(error.message) : error; // biome-ignore format: one line
    }
  }

  async #find(id: string, context: ServerCallContext): Promise<Task> {
    const task = await this.#tasks.find(peerOf(context), id);
    if (task === undefined) throw new errors.TaskNotFoundError('there is no such task of yours');
    return task;
  }
}

type Stream = AsyncGenerator<StreamResponse, void, undefined>;

async function* streamOf(task: Task): Stream {
  yield { payload: { $case: 'task', value: taskOf(task) } };
  let told = task.row;
  while (task instanceof LiveTask && !isEnd(told.state)) {
    while (task.row === told) await task.changed;
    told = task.row;
    yield* changesOf(task);
  }
}

/** The name of the peer, which the door has found out. */
function peerOf({ user }: ServerCallContext): string {
  if (user?.isAuthenticated !== true) throw new errors.RequestMalformedError('nobody is known to ask this');
  return user.userName;
}

const refused = (error: Error): Promise<never> => Promise.reject(error);
const noPush = (): Promise<never> =>
  refused(new errors.PushNotificationNotSupportedError('this agent sends nothing: subscribe to the task, or get it'));
