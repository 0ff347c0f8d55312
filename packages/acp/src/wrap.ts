/**
 * The wrapper: to the editor it is the agent, and to each agent it is the editor.
 *
 * Promise: each session of the editor is a session of Hob with an agent of its own, so no agent has the
 * secret of two. The servers of MCP and the capabilities that the editor offers stay with the editor. When
 * the editor closes, all sessions end at once.
 */
import { CapError } from '@hob/vat/peer';
import { AgentSession } from './agent-session.ts';
import { soon, towardsEditor } from './drivers/sdk.ts';
import { type Fields, fieldsOf, gone, isRefusal, noMethod, notFound, type Peer, Refusal, textIn } from './peer.ts';
import { Requests } from './requests.ts';
import type { Work, WrapOptions } from './work.ts';

/** Methods of a session that already is. */
const OF_SESSION: ReadonlySet<string> = new Set([
  ...['session/prompt', 'session/set_mode', 'session/set_model', 'session/set_config_option', 'session/close'],
]);
const MOST_SESSIONS = 32;

/** Serves the editor until it closes. Errors: none. */
export async function wrap(options: WrapOptions): Promise<void> {
  const wrapper = new Wrapper(options);
  const { end } = options;
  const ended = new Promise<void>((resolve) => end?.addEventListener('abort', () => resolve(), { once: true }));
  await Promise.race([wrapper.closed, ended]);
  await wrapper.end();
}

class Wrapper {
  readonly #options: WrapOptions;
  readonly #editor: Peer;
  readonly #requests: Requests | undefined;
  #greeting: Fields | undefined;
  /** Parameters of `authenticate`, for the agents that start later. */
  #authenticated: unknown;
  /** The one whose agent has answered `initialize`, until the first session takes it. */
  #spare: AgentSession | undefined;
  readonly #sessions = new Map<string, AgentSession>();
  readonly #works = new Set<Work>();
  #begun = 0;

  constructor(options: WrapOptions) {
    this.#options = options;
    this.#editor = towardsEditor(options.editor, {
      request: (method, params, signal) => this.#told(this.#request(method, params, signal)),
      notified: (method, params) => this.#notified(method, params),
    });
    const { granter, say } = options;
    if (granter === undefined) return;
    this.#requests = new Requests(granter, this.#editor, this, say);
    void this.#requests.follow();
  }

  get closed(): Promise<void> {
    return this.#editor.closed.catch(() => {});
  }

  editorId(session: string): string | undefined {
    return this.#of(session)?.id;
  }

  editorPath(session: string, cap: string, path: string): string {
    return this.#of(session)?.editorPath(cap, path) ?? path;
  }

  async end(): Promise<void> {
    const all = [...this.#sessions.values(), ...(this.#spare === undefined ? [] : [this.#spare])];
    await Promise.all(all.map((session) => session.stop().catch(() => {})));
    await Promise.all([...this.#works].map((work) => work.end().catch(() => {})));
    this.#editor.close();
  }

  #of(session: string): AgentSession | undefined {
    return [...this.#sessions.values()].find(({ work }) => work.id === session);
  }

  /** Errors that are for the person keep their text; any other one is a fault of ours. */
  async #told(answer: Promise<unknown>): Promise<unknown> {
    try {
      return await answer;
    } catch (error) {
      if (error instanceof CapError) throw new Refusal(-32000, `${error.code}: ${error.message}`);
      if (!isRefusal(error))
        this.#options.say(
          `hob: a message of the editor was not answered: ${String((error as Error).message).slice(0, 300)}`,
        );
      throw error;
    }
  }

  async #request(method: string, given: unknown, signal: AbortSignal): Promise<unknown> {
    if (method === 'initialize') return await this.#initialize(fieldsOf(given));
    if (this.#greeting === undefined) throw new Refusal(-32600, 'initialize comes first');
    const params = fieldsOf(given ?? {});
    switch (method) {
      case 'session/new':
        return await this.#enter(method, params, signal);
      case 'session/load':
      case 'session/resume':
        return await this.#again(method, params, signal);
      case 'authenticate':
      case 'logout':
        return await this.#ofAll(method, params, signal);
    }
    if (!OF_SESSION.has(method)) throw noMethod(method);
    const session = this.#named(params);
    const answer = await session.request(method, params, signal);
    if (method === 'session/close') await this.#close(session);
    return answer;
  }

  #notified(method: string, params: unknown): void {
    if (method !== 'session/cancel' || typeof params !== 'object' || params === null) return;
    const { sessionId } = params as Fields;
    if (typeof sessionId !== 'string') return;
    this.#requests?.cancel(sessionId);
    void this.#sessions
      .get(sessionId)
      ?.cancel(params)
      .catch(() => {});
  }

  async #initialize(params: Fields): Promise<object> {
    this.#greeting = params;
    // The editor may greet twice.
    const before = this.#spare;
    this.#spare = undefined;
    if (before !== undefined) await this.#close(before);
    const [session, answer] = await this.#begin();
    this.#spare = session;
    const { agentCapabilities, _meta, ...rest } = answer;
    const { sessionCapabilities, mcpCapabilities: _, ...capabilities } = (agentCapabilities ?? {}) as Fields;
    const { close, resume } = (sessionCapabilities ?? {}) as Fields;
    const kept = { ...(close === undefined ? {} : { close }), ...(resume === undefined ? {} : { resume }) };
    return {
      ...rest,
      agentCapabilities: { ...capabilities, mcpCapabilities: { http: false, sse: false }, sessionCapabilities: kept },
    };
  }

  async #begin(work?: Work): Promise<readonly [AgentSession, Fields]> {
    if (this.#begun >= MOST_SESSIONS) throw new Refusal(-32000, `${MOST_SESSIONS} sessions are open: close one`);
    this.#begun += 1;
    const in_ = work ?? (await this.#options.open());
    this.#works.add(in_);
    try {
      const begun = await AgentSession.begin(in_, this.#editor, this.#greeting ?? {});
      if (this.#authenticated !== undefined) await begun[0].request('authenticate', this.#authenticated);
      return begun;
    } catch (error) {
      this.#begun -= 1;
      if (work === undefined) await this.#drop(in_);
      throw error;
    }
  }

  async #enter(method: string, params: Fields, signal: AbortSignal, work?: Work): Promise<unknown> {
    const servers = params['mcpServers'];
    if (Array.isArray(servers) && servers.length > 0)
      this.#options.say(
        `hob: ${servers.length} servers of MCP of the editor stay with the editor: name servers in the manifest`,
      );
    const spare = work === undefined && this.#spare?.isGone === false ? this.#spare : undefined;
    if (spare !== undefined) this.#spare = undefined;
    const session = spare ?? (await this.#begin(work))[0];
    try {
      const answer = await session.enter(method, params, signal, (id) => !this.#sessions.has(id));
      this.#sessions.set(session.id as string, session);
      // After the answer, by which the editor learns the id.
      soon(() => {
        session.entered();
        void this.#requests?.look().catch(() => {});
      });
      return answer;
    } catch (error) {
      // Its id may be that of another one.
      await session.stop();
      this.#begun -= 1;
      await this.#drop(session.work);
      throw error;
    }
  }

  /** The same session of Hob if it lives, also after its agent has crashed; else a new one. */
  async #again(method: string, params: Fields, signal: AbortSignal): Promise<unknown> {
    const id = textIn(params, 'sessionId');
    const known = this.#sessions.get(id);
    if (known === undefined) return await this.#enter(method, params, signal);
    if (!known.isGone) return await known.enter(method, params, signal, () => false);
    this.#sessions.delete(id);
    this.#begun -= 1;
    const lives = await known.work.session().then(
      () => true,
      () => false,
    );
    if (!lives) this.#works.delete(known.work);
    return await this.#enter(method, params, signal, lives ? known.work : undefined);
  }

  /** For each agent: there is one for each session. */
  async #ofAll(method: string, params: Fields, signal: AbortSignal): Promise<unknown> {
    this.#authenticated = method === 'authenticate' ? params : undefined;
    const all = [...(this.#spare === undefined ? [] : [this.#spare]), ...this.#sessions.values()].filter(
      ({ isGone }) => !isGone,
    );
    const answers = await Promise.all(all.map((session) => session.request(method, params, signal)));
    if (answers.length === 0) throw gone();
    return answers[0];
  }

  #named(params: Fields): AgentSession {
    const found = this.#sessions.get(textIn(params, 'sessionId'));
    if (found === undefined) throw notFound('there is no session of that id: begin one');
    found.entered();
    return found;
  }

  async #close(session: AgentSession): Promise<void> {
    if (session.id !== undefined) this.#sessions.delete(session.id);
    this.#begun -= 1;
    await session.stop();
    await this.#drop(session.work);
  }

  async #drop(work: Work): Promise<void> {
    this.#works.delete(work);
    await work.end().catch(() => {});
  }
}
