/** The chats of `hob.yaml`, in which granters see requests and answer some. */
import * as z from 'zod';
import type { ChatPart } from './chat-part.ts';
import { isModelUrl } from './net.ts';
import { name, type RecordOf, record, say, text } from './shapes.ts';

const address = (part: string): z.ZodType<string, string> =>
  text(part, 'https://chat.example.com/hob').refine(isModelUrl, {
    error: say(`${part} is no address`, 'write https://…, or http:// and this machine'),
  });

/** `chats.NAME` of a manifest. */
export const chat: RecordOf<ChatPart> = record('a chat', {
  telegram: name('telegram').optional(),
  user: z
    .int({ error: say('user is a whole number', 'write the number of the person, such as 123456789') })
    .min(1, { error: say('user is the number of a person', 'a number below 0 is a group, where others read along') })
    .optional(),
  api: address('api').optional(),
  webhook: address('webhook').optional(),
  secret: name('secret').optional(),
  sender: text('sender', 'ann').max(200).optional(),
  granter: name('granter').optional(),
});
