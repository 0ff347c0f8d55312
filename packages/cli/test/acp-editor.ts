/** An editor as a real one: the SDK's client, which starts `hob acp` as its agent. For tests. */
import { Writable } from 'node:stream';
import {
  type ClientContext,
  client,
  ndJsonStream,
  type RequestPermissionRequest,
  type SessionNotification,
} from '@agentclientprotocol/sdk';
import type { Running } from './hob.ts';

export interface Editor {
  readonly agent: ClientContext;
  readonly updates: SessionNotification[];
  readonly asked: RequestPermissionRequest[];
  /** Other methods that came to it. */
  readonly others: string[];
  /** Answers with the option of that id. */
  choice: string;
  /** As a person closes it. */
  close(): void;
  /** The texts of the messages so far. */
  said(): string;
}

/** `running` is `hob acp`. */
export function editorOf(running: Running): Editor {
  const { stdin, stdout } = running.child;
  if (stdin === null || stdout === null) throw new Error('no pipes');
  const editor: { -readonly [Name in keyof Editor]: Editor[Name] } = {
    agent: undefined as unknown as ClientContext,
    updates: [],
    asked: [],
    others: [],
    choice: 'allow_once',
    close: () => void stdin.end(),
    said: () =>
      editor.updates
        .map(({ update }) =>
          update.sessionUpdate === 'agent_message_chunk' && update.content.type === 'text' ? update.content.text : '',
        )
        .join(''),
  };
  const app = client({ name: 'editor' });
  app.onNotification('session/update', ({ params }) => void editor.updates.push(params));
  app.onRequest('session/request_permission', ({ params }) => {
    editor.asked.push(params);
    return { outcome: { outcome: 'selected', optionId: editor.choice } };
  });
  app.onRequest('*', ({ method }) => {
    editor.others.push(method);
    return {};
  });
  const bytes = new ReadableStream<Uint8Array>({
    start(controller) {
      stdout.on('data', (text: string) => controller.enqueue(Buffer.from(text)));
      stdout.on('end', () => controller.close());
    },
  });
  editor.agent = app.connect(ndJsonStream(Writable.toWeb(stdin) as WritableStream<Uint8Array>, bytes)).agent;
  return editor;
}
