/**
 * One end of a connection of ACP, by the SDK: JSON-RPC over lines of JSON.
 *
 * Promise: an error that a handler throws goes out as its code and message. Any other error goes out as an
 * internal one, without its text. A peer that sends something that is no message gets an answer; one that
 * sends more than 32 MiB in one is cut off.
 */
import { agent, client, ndJsonStream, RequestError } from '@agentclientprotocol/sdk';
import { type Handlers, isRefusal, type Peer, type Pipe, Refusal } from '../peer.ts';

const LARGEST = 32 * 1024 * 1024;

/** The end that an editor talks to. */
export const towardsEditor = (pipe: Pipe, handlers: Handlers): Peer => {
  const app = agent({ name: 'hob' });
  app.onRequest('*', ({ method, params, signal }) => answered(handlers.request(method, params, signal)));
  app.onNotification('*', ({ method, params }) => handlers.notified(method, params));
  const connection = app.connect(streamOf(pipe));
  return peerOf(connection, connection.client);
};

/** The end that an agent talks to. */
export const towardsAgent = (pipe: Pipe, handlers: Handlers): Peer => {
  const app = client({ name: 'hob' });
  app.onRequest('*', ({ method, params, signal }) => answered(handlers.request(method, params, signal)));
  app.onNotification('*', ({ method, params }) => handlers.notified(method, params));
  const connection = app.connect(streamOf(pipe));
  return peerOf(connection, connection.agent);
};

/** After what was answered has been written. */
export const soon = (then: () => void): void => void setImmediate(then);

const streamOf = ({ input, output }: Pipe): ReturnType<typeof ndJsonStream> =>
  ndJsonStream(output, input, { maxMessageBytes: LARGEST });

/** The part of both contexts that is used. */
interface Context {
  request(method: string, params: unknown, options: object): Promise<unknown>;
  notify(method: string, params: unknown): Promise<void>;
}

function peerOf(connection: { readonly closed: Promise<void>; close(): void }, context: Context): Peer {
  return {
    async request(method, params, signal) {
      const options = signal === undefined ? {} : { cancellationSignal: signal, stopWaitingOnCancel: true };
      try {
        return await context.request(method, params, options);
      } catch (error) {
        throw refusalOf(error);
      }
    },
    // A peer that has gone is told nothing more.
    notify: (method, params) => void context.notify(method, params).catch(() => {}),
    closed: connection.closed,
    close: () => connection.close(),
  };
}

async function answered(answer: Promise<unknown>): Promise<unknown> {
  try {
    return await answer;
  } catch (error) {
    if (isRefusal(error)) throw new RequestError(error.code, error.message, error.data);
    throw new RequestError(-32603, 'Internal error');
  }
}

function refusalOf(error: unknown): Refusal {
  if (error instanceof RequestError) return new Refusal(error.code, error.message, error.data);
  return new Refusal(-32603, 'the other side has gone');
}
