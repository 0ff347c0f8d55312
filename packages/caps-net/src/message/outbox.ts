/** An adapter that writes each message into a directory, as a file of its own, for another program to send. */
import type { FsCap } from '@hob/caps-fs';
import { takeOptions } from '../base/arguments.ts';
import { refusal } from '../base/errors.ts';
import type { Message, MessageAdapter } from './message-cap.ts';

/** `directory`: messages become `ID.json` there. `recipient` is written into each. Errors: `invalid`. */
export function outboxAdapter(options: { readonly directory: FsCap; readonly recipient: string }): MessageAdapter {
  const { directory, recipient } = takeOptions(options, 'outboxAdapter', { directory: true, recipient: true });
  // biome-ignore format: one line
  return Object.freeze({
    kind: 'outbox',
    recipient,
    render: async (message: Message) => new TextEncoder().encode(`${JSON.stringify({ to: recipient, ...plainBody(message) })}\n`),
    deliver: async (bytes, { id }, { leaving }) => {
      leaving();
      await directory.write(`${id}.json`, bytes, { create: 'new' }).catch((error: { readonly code?: unknown }) => {
        // A write that failed made no name: the file appears whole or not at all.
        throw refusal('E_REFUSED', `the outbox says ${String(error.code)}`);
      });
      return `${id}.json`;
    },
  } satisfies MessageAdapter);
}

/** A message as JSON, with its attachments in base64. */
export const plainBody = ({ id, subject, text, attachments }: Message): object => ({
  ...{ id, subject, text },
  attachments: attachments.map(({ name, type, data }) => ({
    name,
    type,
    base64: Buffer.from(data).toString('base64'),
  })),
});
