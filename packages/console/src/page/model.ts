/**
 * The state of the page: requests, grants, sessions and ledger lines, and how they are kept up to date.
 *
 * Promise: a request is asked for as soon as the host says that something has changed. An answer names the digest that
 * was shown. An error of the host becomes a text for the person, and nothing is done again by itself.
 */
import type { Grant, Granter, Passkey, PasskeyProof, Passkeys, Request, RequestAnswer, SuggestedChange } from '@hob/host'; // biome-ignore format: one line
import { E, type Far } from '@hob/vat/peer';
import { Alike } from './alike.ts';
import { notify, now, pause, whileSeen } from './drivers/browser.ts';
import { makePasskey, signWith } from './drivers/passkey.ts';
import { answeredText } from './logic/answered.ts';
import { freeName, type LedgerRow, type Refused, rowOf } from './logic/ledger.ts';
import { Others } from './others.ts';

export interface SessionRow {
  readonly id: string;
  readonly name: string;
  readonly parent?: string;
}

/** A request, and when it was asked and ends by the page's own clock. */
export interface Shown {
  readonly request: Request;
  readonly asked: number;
  readonly ends: number;
  /** The request that it replaces, if this page showed that one. */
  readonly before?: Request;
}

export interface State {
  readonly requests: readonly Shown[];
  /** Texts that are equal for requests that one answer can settle, by their ids. */
  readonly alike: ReadonlyMap<string, string>;
  readonly grants: readonly Grant[];
  /** Grants that ended since the page was opened, the latest first. */
  readonly gone: readonly Grant[];
  readonly sessions: readonly SessionRow[];
  readonly lines: readonly LedgerRow[];
  /** The change of its settings that the host proposes. Undefined until it was asked. */
  readonly suggested: SuggestedChange | 'none' | undefined;
  readonly passkeys: readonly Passkey[];
  /** The message for the person: the outcome of the last act, or an error. */
  readonly notice: string;
  /** Why there is no connection any more. */
  readonly lost: string | undefined;
}

const REFRESH_MS = 1000;
const MOST_GONE = 50;
/** Requests that left, for the case that another one replaces them. A host has fewer at a time. */
const MOST_LEFT = 1000;

export class Model {
  readonly #granter: Far<Granter>;
  readonly #listeners = new Set<() => void>();
  #state: State = {
    requests: [],
    alike: new Map(),
    grants: [],
    gone: [],
    sessions: [],
    lines: [],
    suggested: undefined,
    passkeys: [],
    notice: '',
    lost: undefined,
  };
  #refreshing = false;
  /** Whether the page changed something since a reading began: that reading may not show it. */
  #changed = false;
  readonly #others: Others;
  readonly #alike: Alike;
  readonly #left = new Map<string, Request>();
  #reading: Promise<void> | undefined;

  constructor(granter: Far<Granter>) {
    this.#granter = granter;
    this.#others = new Others(granter);
    this.#alike = new Alike(granter);
  }

  get state(): State {
    return this.#state;
  }

  listen(then: () => void): () => void {
    this.#listeners.add(then);
    return () => this.#listeners.delete(then);
  }

  /** Follows the host until the connection is lost. */
  start(): void {
    void this.#follow();
    whileSeen(REFRESH_MS, () => void this.#refresh());
    void this.#refresh();
    void this.#act('', () => this.#readPasskeys());
  }

  lost(why: string): void {
    this.#set({ lost: why });
  }

  async #follow(): Promise<void> {
    let seen = 0;
    while (this.#state.lost === undefined)
      try {
        seen = (await E(this.#granter).changed(seen)) as number;
        await this.#loadRequests();
      } catch (error) {
        this.#failed(error);
        await pause(REFRESH_MS);
      }
  }

  async #loadRequests(): Promise<void> {
    const requests: Request[] = [];
    for (let after = ''; ; ) {
      const page = (await E(this.#granter).inbox(after)) as readonly Request[];
      requests.push(...page);
      after = page.at(-1)?.id ?? '';
      if (after === '') break;
    }
    const alike = await this.#alike.of(requests);
    const at = now();
    const seen = new Set(this.#state.requests.map(({ request }) => request.id));
    if (requests.some(({ id }) => !seen.has(id))) notify(requests.length);
    const known = new Map(this.#state.requests.map((shown) => [shown.request.id, shown]));
    const there = new Set(requests.map(({ id }) => id));
    const left = [...known.values()].flatMap(({ request }) => (there.has(request.id) ? [] : [request]));
    for (const request of left) this.#left.set(request.id, request);
    for (const id of [...this.#left.keys()].slice(0, -MOST_LEFT)) this.#left.delete(id);
    this.#set({
      alike,
      requests: requests.map((request) => {
        const same = known.get(request.id);
        const before = this.#left.get(request.stale ?? '');
        const shown = { request, asked: at - request.ageMs, ends: at + request.leftMs, ...(before && { before }) };
        // The same request keeps its object, so that its card is not drawn anew.
        return same !== undefined && sameShown(same.request, request) ? same : shown;
      }),
    });
    for (const request of left) await this.#tellWhoAnswered(request);
  }

  /** Says it if another granter, or another page, answered the request. */
  async #tellWhoAnswered(request: Request): Promise<void> {
    const answered = await this.#others.of(request.id);
    if (answered !== undefined) this.#set({ notice: answeredText(answered, request.effect) });
  }

  /** Grants and sessions are asked for each second, because each call changes the uses that are left. */
  async #refresh(): Promise<void> {
    if (this.#refreshing || this.#state.lost !== undefined) return;
    this.#refreshing = true;
    try {
      do {
        this.#changed = false;
        const [grants, sessions] = await Promise.all([this.#allGrants(), this.#allSessions()]);
        const live = new Set(grants.map(({ id }) => id));
        const ended = this.#state.grants.filter(({ id }) => !live.has(id));
        this.#set({ grants, sessions, gone: [...ended, ...this.#state.gone].slice(0, MOST_GONE) });
        await this.#readOn();
      } while (this.#changed);
    } catch (error) {
      this.#failed(error);
    } finally {
      this.#refreshing = false;
    }
  }

  async #allGrants(): Promise<readonly Grant[]> {
    const found: Grant[] = [];
    for (let after: string | undefined; ; ) {
      const page = (await E(this.#granter).list({ live: true, ...(after === undefined ? {} : { after }) })) as readonly Grant[]; // biome-ignore format: one line
      found.push(...page);
      after = page.at(-1)?.id;
      if (after === undefined) return found;
    }
  }

  async #allSessions(): Promise<readonly SessionRow[]> {
    const found: SessionRow[] = [];
    for (let after = ''; ; ) {
      const page = (await E(this.#granter).sessions(after)) as readonly SessionRow[];
      found.push(...page);
      after = page.at(-1)?.id ?? '';
      if (after === '') return found;
    }
  }

  /** Reads the lines of the ledger that came since. */
  async readLedger(): Promise<void> {
    try {
      await this.#readOn();
    } catch (error) {
      this.#failed(error);
    }
  }

  /** One reading at a time, so that no line is there twice. */
  #readOn(): Promise<void> {
    this.#reading ??= this.#readLines().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #readLines(): Promise<void> {
    const reader = E(this.#granter).ledger();
    for (;;) {
      const from = (this.#state.lines.at(-1)?.seq ?? 0) + 1;
      const page = (await E(reader).lines(from)) as readonly string[];
      if (page.length === 0) return;
      this.#set({ lines: [...this.#state.lines, ...page.map(rowOf)] });
    }
  }

  /** Gives a session what it was refused, once and for a quarter of an hour. */
  grantOnce({ session, asks }: Refused, said: string): Promise<boolean> {
    return this.#act(said, () => {
      const petname = freeName(asks, session, this.#state.lines);
      return E(this.#granter).grant(session, petname, asks, { uses: 1, for: 900_000 });
    });
  }

  /** Asks the host what it proposes. It is text: this page cannot make the change. */
  async readSuggestions(): Promise<void> {
    await this.#act('', async () => {
      const suggested = (await E(this.#granter).suggestions()) as SuggestedChange | undefined;
      this.#set({ suggested: suggested ?? 'none' });
    });
  }

  /** The verdict of the host about its whole ledger. */
  async verify(): Promise<unknown> {
    return await E(E(this.#granter).ledger()).verify();
  }

  async answer(request: Request, answer: RequestAnswer, said: string): Promise<boolean> {
    this.#others.own(request.id);
    const done = await this.#act(said, () => this.#send(request, answer));
    if (done) return true;
    this.#others.failed(request.id);
    await this.#act('', () => this.#tellWhoAnswered(request));
    return false;
  }

  async #send({ id, digest, challenge }: Request, answer: RequestAnswer): Promise<void> {
    const signed = 'grant' in answer && challenge !== undefined ? { passkey: await this.#sign(challenge) } : {};
    await E(this.#granter).answer(id, { ...answer, ...signed, digest });
  }

  /** Asks the person for one of the passkeys that are there. */
  async #sign(challenge: string): Promise<PasskeyProof> {
    const ids = this.#state.passkeys.map(({ id }) => id);
    if (ids.length === 0) throw new Error('This needs a passkey, and you have none: add one in the room Passkeys.');
    return await signWith(challenge, ids);
  }

  async #readPasskeys(): Promise<void> {
    this.#set({ passkeys: (await E(E(this.#granter).passkeys()).list()) as readonly Passkey[] });
  }

  async #challenge(change: Parameters<Passkeys['challenge']>[0]): Promise<string> {
    return ((await E(E(this.#granter).passkeys()).challenge(change)) as { readonly challenge: string }).challenge;
  }

  /** Makes a passkey in this browser. After the first one, one that is there signs for it. */
  addPasskey(name: string): Promise<boolean> {
    return this.#act('The passkey is added.', async () => {
      const known = this.#state.passkeys.map(({ id }) => id);
      const made = await makePasskey(await this.#challenge('new'), name, known);
      const proof = known.length === 0 ? [] : [await this.#sign(await this.#challenge('add'))];
      await E(E(this.#granter).passkeys()).add(made, ...(proof as [PasskeyProof]));
      await this.#readPasskeys();
    });
  }

  removePasskey({ id }: Passkey): Promise<boolean> {
    return this.#act('The passkey is removed.', async () => {
      await E(E(this.#granter).passkeys()).remove(id, await this.#sign(await this.#challenge('remove')));
      await this.#readPasskeys();
    });
  }

  /** Gives each of them the answer, with its own digest. One that has changed meanwhile stays in the inbox. */
  async answerAll(requests: readonly Request[], answer: RequestAnswer, said: string): Promise<void> {
    const [only] = requests;
    if (only !== undefined && requests.length === 1) return void (await this.answer(only, answer, said));
    let done = 0;
    for (const request of requests) if (await this.answer(request, answer, '')) done += 1;
    const rest = requests.length - done;
    this.#set({ notice: rest === 0 ? said : `${done} of ${requests.length} are answered. ${this.#state.notice}` });
  }

  revoke(what: { readonly grant: string } | { readonly session: string } | 'all', said: string): Promise<boolean> {
    return this.#act(said, () => E(this.#granter).revoke(what, 'from the console'));
  }

  narrow(grant: string, terms: { readonly uses?: number; readonly for?: number }, said: string): Promise<boolean> {
    return this.#act(said, () => E(this.#granter).narrow(grant, terms));
  }

  end(session: string, said: string): Promise<boolean> {
    return this.#act(said, () => E(this.#granter).end(session, 'from the console'));
  }

  /** Whether it was done. */
  async #act(said: string, act: () => unknown): Promise<boolean> {
    try {
      await act();
      if (said !== '') this.#set({ notice: said });
      this.#changed = true;
      void this.#refresh();
      return true;
    } catch (error) {
      this.#failed(error);
      return false;
    }
  }

  #failed(error: unknown): void {
    if (this.#state.lost !== undefined) return;
    const { code, message } = error as { readonly code?: string; readonly message?: string };
    this.#set({ notice: `${code === undefined ? '' : `${code}: `}${message ?? String(error)}` });
  }

  #set(change: Partial<State>): void {
    this.#state = { ...this.#state, ...change };
    for (const then of this.#listeners) then();
  }
}

/** Nothing that a card shows has changed, but for its times. */
function sameShown(one: Request, other: Request): boolean {
  const shown = ({ ageMs: _age, leftMs: _left, ...rest }: Request): string => JSON.stringify(rest);
  return shown(one) === shown(other);
}
