/**
 * A chat of any kind, through a program that posts signed messages, and gets some.
 *
 * Promise: an answer is taken once, within five minutes of its signing, if it is signed with the key of its
 * chat, also after a kill. It names its request. Whatever else is posted gets the same 401.
 */
import { E, type Far } from '@hob/vat';
import type { ChatDesk, ChatPort } from './desk.ts';
import { isSigned, signedHeaders } from './drivers/signed.ts';
import type { ChatRows } from './rows.ts';

const WINDOW_MS = 300_000;
const LONGEST_ID = 200;
const LONGEST_BODY = 16 << 10;

interface WebhookParts {
  readonly key: Uint8Array;
  readonly newId: () => string;
  /** In ms since 1970. */
  readonly now: () => number;
  readonly post: (headers: Readonly<Record<string, string>>, body: string) => Promise<void>;
}

/**
 * Posts `{type: 'request', chat, request, text, choices: [{choice, name}]}`, and `{type: 'settled', chat,
 * request, text}` when it is over.
 */
export function webhookPort(chat: string, { key, newId, now, post }: WebhookParts): ChatPort {
  const send = async (about: object): Promise<void> => {
    const body = JSON.stringify({ ...about, chat });
    await post(signedHeaders(key, newId(), now(), body), body);
  };
  return {
    async send({ request, text, buttons }) {
      const choices = buttons.map(({ choice, name }) => ({ choice, name }));
      await send({ type: 'request', request, text, choices });
      return request;
    },
    edit: (request, text) => send({ type: 'settled', request, text }),
  };
}

/** A chat whose answers are posted. */
export interface WebhookChat {
  readonly key: Uint8Array;
  readonly desk: Pick<ChatDesk, 'answer'>;
}

interface FaceParts {
  readonly chats: ReadonlyMap<string, WebhookChat>;
  readonly rows: Far<ChatRows>;
  readonly now: () => number;
}

/** A face of a host's door, for callers from outside: `POST` of `{chat, request, sender, choice}`. Returns `{said}`. */
export interface WebhookFace {
  /** A body with more bytes is not read. */
  readonly proofInBody: number;
  know(headers: Headers): Promise<string | undefined>;
  answer(request: Request, caller: string): Promise<Response>;
}

/** Takes the answers of these chats at the door of a host. */
export function webhookFace({ chats, rows, now }: FaceParts): WebhookFace {
  return {
    proofInBody: LONGEST_BODY,
    // The signature covers the body, so `answer` checks it. Here a message without the parts of one is refused.
    async know(headers) {
      const id = headers.get('webhook-id') ?? '';
      const at = Number(headers.get('webhook-timestamp') ?? Number.NaN) * 1000;
      const isWhole = id !== '' && id.length <= LONGEST_ID && headers.has('webhook-signature');
      return isWhole && Math.abs(now() - at) <= WINDOW_MS ? 'a chat' : undefined;
    },
    async answer(request) {
      const { headers } = request;
      const body = await request.text();
      const said = readAnswer(body);
      const chat = said === undefined ? undefined : chats.get(said.chat);
      if (request.method !== 'POST' || said === undefined || chat === undefined || !isSigned(chat.key, headers, body)) return refused(); // biome-ignore format: one line
      const until = Number(headers.get('webhook-timestamp')) * 1000 + 2 * WINDOW_MS;
      if (await E(rows).takenBefore(`${said.chat} ${headers.get('webhook-id')}`, until, now())) return refused();
      return json(200, { said: await chat.desk.answer(said.request, said.sender, said.choice) });
    },
  };
}

interface Posted {
  readonly chat: string;
  readonly request: string;
  readonly sender: string;
  readonly choice: string;
}

function readAnswer(body: string): Posted | undefined {
  try {
    const { chat, request, sender, choice } = JSON.parse(body) as Readonly<Record<string, unknown>>;
    const all = { chat, request, sender, choice };
    return Object.values(all).every((one) => typeof one === 'string') ? (all as Posted) : undefined;
  } catch {
    return undefined;
  }
}

/** Whatever is wrong with an answer, its sender reads the same. */
const refused = (): Response => json(401, { code: 'denied', message: 'this is no signed answer of a chat' });

const json = (status: number, value: object): Response =>
  new Response(JSON.stringify(value), { status, headers: { 'content-type': 'application/json' } });
