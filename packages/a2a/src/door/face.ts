/**
 * The door for tasks: A2A 1.0 over JSON-RPC, for peers that sign their requests.
 *
 * Promise: nobody else is answered, and none of what a stranger sends is read. Whatever a peer sends, it gets an error
 * of A2A, and nothing of the host but codes and texts that are meant for it.
 */
import type { AgentCard as CardMessage } from '@a2a-js/sdk';
import type { Tasks } from '../tasks/tasks.ts';
import { Desk } from './desk.ts';
import { type A2ARequestHandler, errors, JsonRpcTransportHandler, ServerCallContext } from './drivers/sdk.ts';

/** The face of a door, as `serve` of a host takes it for callers from outside. */
export interface TaskFace {
  know(headers: Headers): Promise<string | undefined>;
  answer(request: Request, caller: string): Promise<Response>;
}

/** The parts of the face. */
export interface TaskFaceParts {
  readonly card: object;
  readonly tasks: Tasks;
  /** The name of the peer that has signed this value of `authorization`. */
  readonly know: (authorization: string | null) => Promise<string | undefined>;
  /** Is told of errors that are faults of ours. */
  readonly fault: (error: unknown) => void;
}

const VERSION = '1.0';
const JSON_TYPE = 'application/json';

/** Makes the face. */
export function taskFace({ card, tasks, know, fault }: TaskFaceParts): TaskFace {
  const handler = new JsonRpcTransportHandler(guarded(new Desk(card as CardMessage, tasks), fault));
  return {
    know: (headers) => know(headers.get('authorization')),
    async answer(request, caller) {
      if (request.method !== 'POST')
        return json({ code: 'invalid', message: 'a request of A2A is a POST of JSON' }, 405);
      const version = request.headers.get('a2a-version');
      if (version !== VERSION)
        return json({ jsonrpc: '2.0', id: null, error: errors.toJsonRpcError(new errors.VersionNotSupportedError('this agent speaks A2A 1.0: send A2A-Version: 1.0')) }); // biome-ignore format: one line
      const user = { isAuthenticated: true, userName: caller };
      const body = requestOf(await request.text());
      if (body === undefined) return json(NO_REQUEST);
      const answer = await handler.handle(body, new ServerCallContext({ user, requestedVersion: version }));
      return Symbol.asyncIterator in answer ? events(answer, request.signal) : json(answer);
    },
  };
}

const NO_REQUEST = { jsonrpc: '2.0', id: null, error: { code: -32_700, message: 'the body is no request of JSON-RPC 2.0' } }; // biome-ignore format: one line

/** Undefined where it is none, of which the library would make a fault. */
function requestOf(body: string): Record<string, unknown> | undefined {
  try {
    const value = JSON.parse(body) as unknown;
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined; // biome-ignore format: one line
  } catch {
    return undefined;
  }
}

const json = (value: unknown, status = 200): Response =>
  new Response(JSON.stringify(value), { status, headers: { 'content-type': JSON_TYPE } });

/** Server-sent events. A client that goes ends its stream, and not its task. */
function events(from: AsyncGenerator<unknown, void, undefined>, gone: AbortSignal): Response {
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await from.next();
        if (done === true) controller.close();
        else controller.enqueue(encoder.encode(`data: ${JSON.stringify(value)}\n\n`));
      } catch (error) {
        if (gone.aborted) return controller.error(error);
        const said = { jsonrpc: '2.0', id: null, error: errors.toJsonRpcError(error) };
        controller.enqueue(encoder.encode(`data: ${JSON.stringify(said)}\n\n`));
        controller.close();
      }
    },
    cancel: () => void from.return(),
  });
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
}

/** The library tells a peer the text of every error. Only those of A2A are meant for it. */
function guarded(desk: Desk, fault: (error: unknown) => void): A2ARequestHandler {
  const ours = (error: unknown): unknown => {
    if (error instanceof errors.A2AError) return error;
    fault(error);
    return new errors.A2AError('the request failed for a reason of Hob’s own');
  };
  async function* stream<T>(from: AsyncGenerator<T, void, undefined>): AsyncGenerator<T, void, undefined> {
    try {
      yield* from;
    } catch (error) {
      throw ours(error);
    }
  }
  const call = <T>(answer: Promise<T>): Promise<T> =>
    answer.catch((error) => {
      throw ours(error);
    });
  return {
    getAgentCard: () => call(desk.getAgentCard()),
    getAuthenticatedExtendedAgentCard: () => call(desk.getAuthenticatedExtendedAgentCard()),
    sendMessage: (params, context) => call(desk.sendMessage(params, context)),
    sendMessageStream: (params, context) => stream(desk.sendMessageStream(params, context)),
    getTask: (params, context) => call(desk.getTask(params, context)),
    cancelTask: (params, context) => call(desk.cancelTask(params, context)),
    listTasks: (params, context) => call(desk.listTasks(params, context)),
    resubscribe: (params, context) => stream(desk.resubscribe(params, context)),
    createTaskPushNotificationConfig: () => call(desk.createTaskPushNotificationConfig()),
    getTaskPushNotificationConfig: () => call(desk.getTaskPushNotificationConfig()),
    listTaskPushNotificationConfigs: () => call(desk.listTaskPushNotificationConfigs()),
    deleteTaskPushNotificationConfig: () => call(desk.deleteTaskPushNotificationConfig()),
  };
}
