/**
 * A private chat of Telegram, through its bot API by grammY.
 *
 * Promise: messages are plain text, so nothing in them becomes markup. A press counts if the person whose
 * number the chat is bound to made it, under a message in the chat with that person. The token of the bot is
 * in no error and no log.
 */
import { CapError } from '@hob/vat';
import { Api, GrammyError, HttpError } from 'grammy';
import type { CallbackQuery } from 'grammy/types';
import type { Button, ChatPort } from '../desk.ts';

/** The bot, and the person. */
export interface TelegramOptions {
  readonly token: string;
  /** The number of the person. It is that of the chat with them, too. */
  readonly user: number;
  /** The address of the bot API, if it is not the usual one. */
  readonly api?: string;
}

/** A chat that listens. */
export interface TelegramChat extends ChatPort {
  /** Hears presses, until `end`. */
  listen(hearing: Hearing): Promise<void>;
}

/** The functions that a listening chat calls, and the signal that ends it. */
interface Hearing {
  /** Is called for each press. The text that it returns is shown to the one who pressed. */
  pressed(token: string, sender: string): Promise<string>;
  /**
   * Is called once when presses cannot be heard, with a code, and again only after they were heard. The chat
   * tries on.
   */
  failing(code: string): void;
  readonly end: AbortSignal;
}

const POLL_S = 25;
/** The text under a press may have 200. */
const LONGEST_TOAST = 190;
const BACKOFF_MS = 5_000;
/** An edit to the same text, and a message that is gone, need nothing more. */
const DONE = /message is not modified|message to edit not found|message can't be edited/i;

/** The private chat of a bot with one person. Nothing is sent before the first message. */
export function telegram({ token, user, api: apiRoot }: TelegramOptions): TelegramChat {
  const api = new Api(token, { ...(apiRoot === undefined ? {} : { apiRoot }), timeoutSeconds: POLL_S + 15 });
  return {
    async send({ text, buttons }) {
      const keyboard = buttons.map(({ name, token: data }: Button) => [{ text: name, callback_data: data }]);
      const { message_id } = await tried(api.sendMessage(user, text, { reply_markup: { inline_keyboard: keyboard }, link_preview_options: { is_disabled: true } })); // biome-ignore format: one line
      return String(message_id);
    },
    async edit(ref, text) {
      await tried(api.editMessageText(user, Number(ref), text)).catch((error) => {
        if (!(error instanceof Refused && DONE.test(error.said))) throw error;
      });
    },
    async listen({ pressed, failing, end }) {
      let offset = 0;
      let isFailing = false;
      const fails = async (error: unknown): Promise<void> => {
        if (!isFailing) failing(error instanceof CapError ? error.code : 'fault');
        isFailing = true;
        await new Promise((resolve) => setTimeout(resolve, BACKOFF_MS).unref());
      };
      while (!end.aborted)
        try {
          const asked = { offset, timeout: POLL_S, allowed_updates: ['callback_query'] as const };
          for (const { update_id, callback_query: press } of await tried(api.getUpdates(asked, end as never))) {
            if (press !== undefined) await heard(api, user, press, pressed);
            // Afterwards: a press whose answer failed is heard again.
            offset = update_id + 1;
          }
          isFailing = false;
        } catch (error) {
          if (!end.aborted) await fails(error);
        }
    },
  };
}

/** Answers one press. Errors: those of `pressed`. */
async function heard(api: Api, user: number, press: CallbackQuery, pressed: Hearing['pressed']): Promise<void> {
  const { id, data, from, message } = press;
  const isHere = message?.chat.id === user && typeof data === 'string';
  const said = isHere ? await pressed(data, String(from.id)) : 'This is not yours.';
  await api.answerCallbackQuery(id, { text: said.slice(0, LONGEST_TOAST) }).catch(() => {});
}

/** A refusal of the API. `said` is its text, which is for this file alone. */
class Refused extends CapError {
  readonly said: string;
  readonly retryMs: number;
  constructor(code: string, said: string, retryMs: number) {
    super(code, 'Telegram refused it');
    this.said = said;
    this.retryMs = retryMs;
  }
}

async function tried<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof GrammyError) throw new Refused(error.error_code === 429 ? 'limit' : 'denied', error.description, (error.parameters.retry_after ?? 0) * 1000); // biome-ignore format: one line
    if (error instanceof HttpError) throw new CapError('unavailable', 'Telegram cannot be reached');
    throw error;
  }
}
