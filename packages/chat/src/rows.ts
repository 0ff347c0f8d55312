/** The messages that a chat shows, as an actor: after a kill they are still known, and are edited to their end. */
import { type AnyDefinition, type Definition, define, type Table } from '@hob/vat';
import type { Said } from './held.ts';
import type { Choice } from './present.ts';

/** A request in a chat. */
export interface ChatRow {
  readonly chat: string;
  /** The id of the host. */
  readonly request: string;
  /** The first line of the message. */
  readonly head: string;
  /** The answers that the message offers: the text for the host, and the token of the button. */
  readonly answers: Readonly<Partial<Record<Choice, { readonly said: Said; readonly token: string }>>>;
  /** The id of the message in the chat. Undefined: it was not sent, or nobody knows. */
  readonly ref?: string;
  /** How it ended, if that was in this chat. */
  readonly over?: string;
}

/** Keeps what chats show, and the ids of the signed messages that were taken. */
export interface ChatRows {
  of(chat: string): readonly ChatRow[];
  find(chat: string, request: string): ChatRow | undefined;
  put(row: ChatRow): void;
  /** Notes the id of the message, or how its request ended. Returns the row; undefined if it was dropped. */
  note(chat: string, request: string, what: Pick<ChatRow, 'ref' | 'over'>): ChatRow | undefined;
  drop(chat: string, request: string): void;
  /** Whether an id of a signed message was taken before `until`, in ms since 1970. It is from now on. */
  takenBefore(id: string, until: number, now: number): boolean;
}

const MOST_TAKEN = 10_000;

const keyOf = (chat: string, request: string): string => `${chat} ${request}`;

/** Holds messages by chat and request, and ids with the time until which they are remembered. */
export const ChatRowsActor: Definition<ChatRows, [rows: Table<ChatRow>, taken: Table<number>]> = define(
  'chat.rows',
  (_bcom, rows, taken) => ({
    of: (chat) => [...rows.entries()].flatMap(([, row]) => (row.chat === chat ? [row] : [])),
    find: (chat, request) => rows.get(keyOf(chat, request)),
    put: (row) => void rows.set(keyOf(row.chat, row.request), row),
    note(chat, request, what) {
      const row = rows.get(keyOf(chat, request));
      if (row === undefined) return undefined;
      const noted = { ...row, ...what };
      rows.set(keyOf(chat, request), noted);
      return noted;
    },
    drop: (chat, request) => void rows.delete(keyOf(chat, request)),
    takenBefore(id, until, now) {
      if (taken.has(id)) return true;
      const all = [...taken.entries()];
      for (const [old, end] of all) if (end < now) taken.delete(old);
      // More than a person sends: nothing more is taken until some have expired.
      if (all.length >= MOST_TAKEN) return true;
      taken.set(id, until);
      return false;
    },
  }),
);

/** The definitions that a host with chats is opened with. */
export const chatDefinitions: readonly AnyDefinition[] = Object.freeze([ChatRowsActor]);
