/**
 * The chats of a manifest, beside the host that serves it.
 *
 * Promise: a chat that cannot be reached delays nothing, and nothing of a token, a key or an address is in the log.
 */
import { ChatDesk, type ChatGranter, type ChatPort, type ChatRows, ChatRowsActor, post, telegram, type WebhookChat, webhookFace, webhookPort } from '@hob/chat'; // biome-ignore format: one line
import type { HttpFaces } from '@hob/host';
import type { PlannedChat } from '@hob/manifest';
import { type Far, table } from '@hob/vat';
import { newId } from '../../drivers/machine.ts';
import { pause } from '../../drivers/pause.ts';
import { Mistake } from '../../line/mistake.ts';
import { makerOf, petnameOf } from '../../plan/names.ts';
import { webhookKey, webhookUrl } from '../drivers/webhook.ts';
import type { DoorParts } from '../tasks/door.ts';

interface ServedChats {
  readonly faces: HttpFaces;
  /** Shows requests from now on, until the host ends. */
  begin(): void;
}

/** Errors: `Mistake` (a secret is not stored, or it is no key). */
export async function servedChats({ host, plan, machine, end, log }: Omit<DoorParts, 'granter'>): Promise<ServedChats> {
  const rows = (await host.vats.vat('chats').root('rows', () => ChatRowsActor(table(), table()))) as unknown as Far<ChatRows>; // biome-ignore format: one line
  const { now } = machine;
  const begins: (() => void)[] = [];
  const posted = new Map<string, WebhookChat>();
  const stored = (chat: string, name: string): string => {
    const value = machine.secret(name);
    if (value !== undefined) return value.trim();
    throw new Mistake(`chats.${chat}: there is no secret ${name}: store it with hob secret set ${name}`);
  };
  const deskOf = async (chat: string, { granter }: PlannedChat, sender: string, port: ChatPort): Promise<ChatDesk> => {
    const of = await host.granter(granter === undefined ? makerOf(plan) : petnameOf(granter), 'chat');
    const parts = { chat, sender, port, rows, pause, log, newToken: () => newId().replaceAll('-', '') };
    const desk = new ChatDesk({ ...parts, granter: of as unknown as Far<ChatGranter> });
    begins.push(() => void desk.follow());
    end.addEventListener('abort', () => desk.close());
    return desk;
  };
  for (const [chat, planned] of Object.entries(plan.chats ?? {}))
    if (planned.kind === 'telegram') {
      const { token, user, api } = planned;
      const port = telegram({ token: stored(chat, token), user, ...(api === undefined ? {} : { api }) });
      const desk = await deskOf(chat, planned, String(user), port);
      const failing = (code: string): void => log(`the chat ${chat} hears no presses, and tries on: ${code}`);
      begins.push(() => void port.listen({ pressed: (data, by) => desk.pressed(data, by), failing, end }));
    } else {
      const [url, key] = [webhookUrl(planned.url), webhookKey(stored(chat, planned.secret))];
      const port = webhookPort(chat, { key, newId, now, post: (headers, body) => post(url, headers, body) });
      posted.set(chat, { key, desk: await deskOf(chat, planned, planned.sender, port) });
    }
  return {
    faces: posted.size === 0 ? {} : { '/chat': webhookFace({ chats: posted, rows, now }) },
    begin: () => {
      for (const one of begins) one();
    },
  };
}
