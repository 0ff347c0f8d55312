/**
 * The requests of one granter in one chat.
 *
 * Promise: an answer names its request, and counts only if it comes from the person that the chat is bound
 * to, for a request that this chat shows, as it was shown. Words of a chat are no answer. A message is stored
 * before it is sent, and edited when its request is settled, here or elsewhere, also after a kill. A chat
 * that fails keeps nobody waiting.
 */
import { CapError, E, type Far } from '@hob/vat';
import type { Asked, ChatGranter } from './held.ts';
import { type Choice, present, shortId } from './present.ts';
import type { ChatRow, ChatRows } from './rows.ts';

/** A button under a message. */
export interface Button {
  readonly name: string;
  readonly choice: Choice;
  /** Stands for the answer: 32 hexadecimal digits that nobody guesses. */
  readonly token: string;
}

/** The way to a chat. */
export interface ChatPort {
  /** Sends a message, and returns its id in the chat. Errors: `retryMs` says how long to wait. */
  send(message: {
    readonly request: string;
    readonly text: string;
    readonly buttons: readonly Button[];
  }): Promise<string>;
  /** Gives a message another text, and takes its buttons away. */
  edit(ref: string, text: string): Promise<void>;
}

interface DeskParts {
  /** The name of the chat. */
  readonly chat: string;
  /** The one whose answers count, as the chat names them. */
  readonly sender: string;
  readonly granter: Far<ChatGranter>;
  readonly rows: Far<ChatRows>;
  readonly port: ChatPort;
  readonly newToken: () => string;
  readonly pause: (ms: number) => Promise<void>;
  readonly log: (line: string) => void;
}

const [SHORTEST_MS, LONGEST_MS] = [1_000, 60_000];
const ELSEWHERE = 'it was answered elsewhere, or has ended';
const CHOSEN: Readonly<Record<Choice, string>> = { once: 'approved once, here', few: 'approved for 5 uses, here', refuse: 'refused, here' }; // biome-ignore format: one line

/** Shows the requests of a granter in a chat, and takes the answers of one person. */
export class ChatDesk {
  readonly #parts: DeskParts;
  #closed = false;
  /** Requests whose answer of this chat is on its way. */
  readonly #answering = new Set<string>();
  /** Requests whose message is on its way: it is edited when its id is known. */
  readonly #sending = new Set<string>();
  /** Requests whose message is being edited. */
  readonly #settling = new Set<string>();
  /** One look at a time. */
  #looking: Promise<boolean> = Promise.resolve(true);

  constructor(parts: DeskParts) {
    this.#parts = parts;
  }

  /** Shows requests until the desk is closed or the granter has gone. */
  async follow(): Promise<void> {
    const { pause, log, chat } = this.#parts;
    let since: number | undefined;
    try {
      while (!this.#closed) {
        let wait = SHORTEST_MS;
        while (!(await this.look()) && !this.#closed) {
          await pause(wait);
          wait = Math.min(2 * wait, LONGEST_MS);
        }
        since = await this.#changed(since);
      }
    } catch (error) {
      if (!this.#closed) log(`the chat ${chat} ends: ${codeOf(error)}`);
    }
  }

  close(): void {
    this.#closed = true;
  }

  /** Waits for a change. Other programs of the granter may wait for so many that there is no place: it asks again. */
  async #changed(since: number | undefined): Promise<number> {
    const { granter, pause } = this.#parts;
    for (;;)
      try {
        return (await E(granter).changed(...(since === undefined ? [] : [since]))) as number;
      } catch (error) {
        if (codeOf(error) !== 'limit') throw error;
        await pause(LONGEST_MS);
      }
  }

  /** Shows what is new, and edits what is over. Returns whether all of it was sent. */
  look(): Promise<boolean> {
    const looking = this.#looking.then(() => this.#look());
    // A look that failed is not the end of those after it.
    this.#looking = looking.catch(() => false);
    return looking;
  }

  async #look(): Promise<boolean> {
    const { chat, granter, rows } = this.#parts;
    const waiting: Asked[] = [];
    for (let more = true; more; ) {
      const page = (await E(granter).inbox(waiting.at(-1)?.id)) as readonly Asked[];
      waiting.push(...page);
      more = page.length > 0;
    }
    const there = new Set(waiting.map(({ id }) => id));
    const known = new Map(((await E(rows).of(chat)) as readonly ChatRow[]).map((row) => [row.request, row]));
    let isWhole = true;
    for (const row of known.values())
      if (!there.has(row.request) && !this.#answering.has(row.request)) isWhole = (await this.#settle(row)) && isWhole; // biome-ignore format: one line
    for (const request of waiting) if (known.get(request.id)?.ref === undefined) isWhole = (await this.#show(request)) && isWhole; // biome-ignore format: one line
    return isWhole;
  }

  /** The answer of a sender to a request. Returns what the sender reads. */
  async answer(request: string, sender: string, choice: string): Promise<string> {
    const { chat, granter, rows, log } = this.#parts;
    if (sender !== this.#parts.sender) return 'You are not the one who answers this.';
    const row = (await E(rows).find(chat, request)) as ChatRow | undefined;
    if (row === undefined) return 'It was answered already, or has ended.';
    const answer = Object.hasOwn(row.answers, choice) ? row.answers[choice as Choice] : undefined;
    if (answer === undefined) return 'That is no answer to it.';
    let over = CHOSEN[choice as Choice];
    this.#answering.add(request);
    try {
      await E(granter).answer(request, answer.said);
    } catch (error) {
      if (!(error instanceof CapError)) {
        this.#answering.delete(request);
        throw error;
      }
      log(`an answer in the chat ${chat} came to nothing: ${error.code}`);
      if (error.code !== 'no-such-object' && error.code !== 'STALE' && error.code !== 'expired') {
        this.#answering.delete(request);
        return `That did not work: ${error.code}.`;
      }
      over = ELSEWHERE;
    }
    // Noted before others may take it for one that was answered elsewhere.
    const noted = (await E(rows).note(chat, request, { over })) as ChatRow | undefined;
    this.#answering.delete(request);
    if (noted !== undefined) await this.#settle(noted);
    return `${shortId(request)}: ${over}.`;
  }

  /** The same for a button. */
  async pressed(token: string, sender: string): Promise<string> {
    const all = (await E(this.#parts.rows).of(this.#parts.chat)) as readonly ChatRow[];
    for (const { request, answers } of all)
      for (const [choice, answer] of Object.entries(answers))
        if (answer.token === token) return await this.answer(request, sender, choice);
    return 'It was answered already, or has ended.';
  }

  async #show(request: Asked): Promise<boolean> {
    const { chat, rows, port, newToken } = this.#parts;
    const { text, choices } = present(request);
    const made = Object.entries(choices).map(([choice, { name, said }]) => ({ choice: choice as Choice, name, said, token: newToken() })); // biome-ignore format: one line
    const answers = Object.fromEntries(made.map(({ choice, said, token }) => [choice, { said, token }]));
    const row: ChatRow = { chat, request: request.id, head: text.split('\n', 1)[0] ?? '', answers };
    await E(rows).put(row);
    this.#sending.add(request.id);
    try {
      const buttons = made.map(({ said: _, ...button }) => button);
      const ref = await port.send({ request: request.id, text, buttons });
      const noted = (await E(rows).note(chat, request.id, { ref })) as ChatRow | undefined;
      this.#sending.delete(request.id);
      // It may have been answered before its id was known.
      return noted?.over === undefined || (await this.#settle(noted));
    } catch (error) {
      return await this.#failed(error, 'a request was not shown');
    } finally {
      this.#sending.delete(request.id);
    }
  }

  /** Edits the message of a request that is over. A message that was never sent needs no edit. */
  async #settle(row: ChatRow): Promise<boolean> {
    const { over = ELSEWHERE } = row;
    const { request } = row;
    if (row.ref === undefined && this.#sending.has(request)) return true;
    // It may fail, so the desk looks once more.
    if (this.#settling.has(request)) return false;
    const { chat, rows, port } = this.#parts;
    this.#settling.add(request);
    try {
      if (row.ref !== undefined) await port.edit(row.ref, `${row.head}\n\n${over}`);
      await E(rows).drop(chat, request);
      return true;
    } catch (error) {
      return await this.#failed(error, 'a message was not edited');
    } finally {
      this.#settling.delete(request);
    }
  }

  async #failed(error: unknown, what: string): Promise<false> {
    const { chat, log, pause } = this.#parts;
    log(`${what} in the chat ${chat}: ${codeOf(error)}`);
    const { retryMs } = error as { readonly retryMs?: unknown };
    if (typeof retryMs === 'number' && retryMs > 0) await pause(Math.min(retryMs, LONGEST_MS));
    return false;
  }
}

/** The code of an error of Hob. Texts of others are not written: they may have a token in them. */
const codeOf = (error: unknown): string => (error instanceof CapError ? error.code : 'it could not be reached');
