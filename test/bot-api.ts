/** The bot API of Telegram on loopback, as a bot sees it, and the fingers of people. For tests. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export const TOKEN = '123456:the-token-of-a-bot';

export interface Sent {
  readonly id: number;
  readonly chat: number;
  text: string;
  /** The data of the buttons, by their words. */
  buttons: Readonly<Record<string, string>>;
  /** As it came. */
  readonly raw: Readonly<Record<string, unknown>>;
}

export interface BotApi {
  readonly url: string;
  readonly messages: readonly Sent[];
  /** What was shown to those who pressed, in order. */
  readonly toasts: readonly string[];
  /** The next calls of a method get these answers. */
  fail(method: string, ...answers: readonly ('429' | '500' | 'garbage' | 'hang up')[]): void;
  /** A person presses a button. */
  press(data: string, from: number, more?: { readonly chat?: number; readonly message?: number }): void;
  /** A person writes. */
  write(text: string, from: number): void;
  /** Waits until as many messages were sent. */
  sees(count: number): Promise<readonly Sent[]>;
  until(isThere: () => boolean): Promise<void>;
  close(): Promise<void>;
}

export async function botApi(): Promise<BotApi> {
  const messages: Sent[] = [];
  const toasts: string[] = [];
  const updates: { readonly update_id: number; readonly [kind: string]: unknown }[] = [];
  const failing = new Map<string, string[]>();
  const polls = new Set<() => void>();
  let updateIds = 0;
  const reply = (response: ServerResponse, result: unknown): void =>
    void response.end(JSON.stringify({ ok: true, result }));
  const refuse = (response: ServerResponse, code: number, description: string, parameters = {}): void =>
    void response.writeHead(code).end(JSON.stringify({ ok: false, error_code: code, description, parameters }));
  const methods: Readonly<Record<string, (given: Record<string, unknown>, response: ServerResponse) => void>> = {
    sendMessage(given, response) {
      const { chat_id: chat, text, reply_markup: markup } = given as { chat_id: number; text: string; reply_markup?: { inline_keyboard: { text: string; callback_data: string }[][] } }; // biome-ignore format: one line
      if (text.length > 4096) return refuse(response, 400, 'Bad Request: message is too long');
      const buttons = Object.fromEntries((markup?.inline_keyboard ?? []).flat().map((one) => [one.text, one.callback_data])); // biome-ignore format: one line
      const id = messages.length + 100;
      messages.push({ id, chat, text, buttons, raw: given });
      reply(response, { message_id: id });
    },
    editMessageText(given, response) {
      const { message_id: id, text } = given as { message_id: number; text: string };
      const message = messages.find((one) => one.id === id);
      if (message === undefined) return refuse(response, 400, 'Bad Request: message to edit not found');
      message.text = text;
      message.buttons = {};
      reply(response, true);
    },
    answerCallbackQuery(given, response) {
      toasts.push((given as { text: string }).text);
      reply(response, true);
    },
    getUpdates(given, response) {
      const { offset = 0 } = given as { readonly offset?: number };
      const answer = (): void => {
        polls.delete(answer);
        clearTimeout(timer);
        if (!response.writableEnded)
          reply(
            response,
            updates.filter(({ update_id }) => update_id >= offset),
          );
      };
      const timer = setTimeout(answer, 2_000);
      if (updates.some(({ update_id }) => update_id >= offset)) return answer();
      polls.add(answer);
    },
  };
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const [, method = ''] = /^\/bot[^/]*\/(\w+)/.exec(request.url ?? '') ?? [];
    if (!request.url?.startsWith(`/bot${TOKEN}/`)) return refuse(response, 401, 'Unauthorized');
    const how = failing.get(method)?.shift();
    if (how === '429') return refuse(response, 429, 'Too Many Requests: retry after 1', { retry_after: 1 });
    if (how === '500') return refuse(response, 500, 'Internal Server Error');
    if (how === 'garbage') return void response.end('<html>');
    if (how === 'hang up') return void request.socket.destroy();
    methods[method]?.(JSON.parse(Buffer.concat(parts).toString('utf8') || '{}'), response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const push = (update: object): void => {
    updates.push({ update_id: ++updateIds, ...update });
    for (const answer of [...polls]) answer();
  };
  const until = async (isThere: () => boolean): Promise<void> => {
    while (!isThere()) await new Promise((resolve) => setTimeout(resolve, 10));
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    messages,
    toasts,
    fail: (method, ...answers) => void failing.set(method, [...answers]),
    press: (data, from, { chat = from, message = 100 } = {}) =>
      push({ callback_query: { id: `press${updateIds}`, from: { id: from }, chat_instance: '', message: { message_id: message, chat: { id: chat } }, data } }), // biome-ignore format: one line
    write: (text, from) => push({ message: { message_id: 1, from: { id: from }, chat: { id: from }, text } }),
    async sees(count) {
      await until(() => messages.length >= count);
      return messages;
    },
    until,
    close: () =>
      new Promise((resolve) => {
        for (const answer of [...polls]) answer();
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
