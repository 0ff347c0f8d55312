/**
 * One session of the editor: a session of Hob, and an agent of its own that runs in it.
 *
 * Promise: what the agent asks of its client is answered by the caps of this session and reaches no editor.
 * It speaks of its own session only: an update for another one is dropped. A crash of the agent ends its
 * calls and terminals, and nothing else.
 */
import { towardsAgent } from './drivers/sdk.ts';
import { Files } from './files.ts';
import { enriched, type Known } from './our-calls.ts';
import { type Fields, fieldsOf, gone, noMethod, notFound, type Peer, Refusal, textIn, wrongParams } from './peer.ts';
import { Terminals } from './terminals.ts';
import type { Agent, Work } from './work.ts';

/** Updates that come before the editor knows the session. */
const MOST_EARLY = 1_000;
const MOST_KNOWN = 1_000;

type Served = (params: Fields) => Promise<object>;

/** One agent and its session. Made by `begin`. */
export class AgentSession {
  readonly work: Work;
  readonly #agent: Agent;
  readonly #peer: Peer;
  readonly #editor: Peer;
  /** The id that the agent gave its session. */
  #id: string | undefined;
  /** Undefined once the editor knows the session. */
  #early: Fields[] | undefined = [];
  #cwd = '/';
  #terminals: Terminals | undefined;
  #served: ReadonlyMap<string, Served> = new Map();
  readonly #known = new Map<string, Known>();
  #isGone = false;

  private constructor(work: Work, agent: Agent, editor: Peer) {
    this.work = work;
    this.#agent = agent;
    this.#editor = editor;
    this.#peer = towardsAgent(agent.pipe, {
      request: (method, params, signal) => this.#asked(method, params, signal),
      notified: (method, params) => this.#told(method, params),
    });
    const over = (): void => void this.#crashed();
    this.#peer.closed.then(over, over);
    agent.ended.then(over, over);
  }

  /** Starts the agent, and greets it as the editor did. Returns its answer, too. */
  static async begin(work: Work, editor: Peer, greeting: Fields): Promise<readonly [AgentSession, Fields]> {
    const session = new AgentSession(work, await work.start(), editor);
    const clientCapabilities = { fs: { readTextFile: true, writeTextFile: true }, terminal: true };
    const { clientInfo } = greeting;
    const hello = { protocolVersion: 1, clientCapabilities, ...(clientInfo === undefined ? {} : { clientInfo }) };
    try {
      const answer = fieldsOf(await session.#peer.request('initialize', hello));
      if (answer['protocolVersion'] !== 1) throw new Refusal(-32000, 'the agent does not speak version 1 of ACP');
      return [session, answer];
    } catch (error) {
      await session.stop();
      throw error;
    }
  }

  get id(): string | undefined {
    return this.#id;
  }

  get isGone(): boolean {
    return this.#isGone;
  }

  /** `session/new`, `session/load` and `session/resume`, with what the agent gets in place of what the editor gave. */
  async enter(method: string, params: Fields, signal: AbortSignal, isFree: (id: string) => boolean): Promise<Fields> {
    const cwd = textIn(params, 'cwd');
    if (!cwd.startsWith('/')) throw wrongParams('cwd is an absolute path');
    const { mcpServers, meta } = this.#agent;
    this.#cwd = cwd.length > 1 ? cwd.replace(/\/+$/, '') : cwd;
    const root = this.#agent.directory(this.#cwd);
    this.#serve(root);
    const given = method === 'session/new' ? {} : { sessionId: textIn(params, 'sessionId') };
    if (given.sessionId !== undefined) this.#id = given.sessionId;
    const entry = { ...given, cwd: root, mcpServers, ...(meta === undefined ? {} : { _meta: meta }) };
    if (method !== 'session/new') this.entered();
    const answer = fieldsOf((await this.request(method, entry, signal)) ?? {});
    if (method !== 'session/new') return answer;
    const id = textIn(answer, 'sessionId');
    if (!isFree(id)) throw new Refusal(-32000, 'the agent gave its session the id of another one');
    this.#id = id;
    return answer;
  }

  /** The editor knows the session from now on: it has the answer, or has named it. */
  entered(): void {
    const early = this.#early ?? [];
    this.#early = undefined;
    for (const params of early) this.#show(params);
  }

  async request(method: string, params: unknown, signal?: AbortSignal): Promise<unknown> {
    if (this.#isGone) throw gone();
    try {
      return await this.#peer.request(method, params, signal);
    } catch (error) {
      throw this.#isGone ? gone() : error;
    }
  }

  notify(method: string, params: unknown): void {
    if (!this.#isGone) this.#peer.notify(method, params);
  }

  /** The person has cancelled the turn: the agent is told, and its jobs end. */
  async cancel(params: unknown): Promise<void> {
    this.notify('session/cancel', params);
    await this.#terminals?.killAll();
  }

  /** Ends the agent. The session of Hob goes on. */
  async stop(): Promise<void> {
    this.#isGone = true;
    this.#peer.close();
    await this.#terminals?.killAll().catch(() => {});
    await this.#agent.stop();
  }

  /** The path that the editor opens for a path in a cap. */
  editorPath(cap: string, path: string): string {
    const { places } = this.work;
    const place = Object.hasOwn(places, cap) ? places[cap] : `${this.#cwd === '/' ? '' : this.#cwd}/${cap}`;
    return `${place}/${path}`;
  }

  #serve(root: string): void {
    const files = new Files(this.work.session, { root, places: this.work.places });
    const terminals = new Terminals(this.work.session, root);
    this.#terminals = terminals;
    this.#served = new Map<string, Served>([
      ['fs/read_text_file', (params) => files.read(params)],
      ['fs/write_text_file', (params) => files.write(params)],
      ['terminal/create', (params) => terminals.create(params)],
      ['terminal/output', (params) => terminals.output(params)],
      ['terminal/wait_for_exit', (params) => terminals.wait(params)],
      ['terminal/kill', (params) => terminals.kill(params)],
      ['terminal/release', (params) => terminals.release(params)],
    ]);
  }

  /** A request of the agent to its client. */
  async #asked(method: string, given: unknown, signal: AbortSignal): Promise<unknown> {
    const params = fieldsOf(given);
    const served = this.#served.get(method);
    if (served === undefined && method !== 'session/request_permission') throw noMethod(method);
    if (textIn(params, 'sessionId') !== this.#id) throw notFound('the agent has no session of that id');
    return served === undefined ? await this.#permission(params, signal) : await served(params);
  }

  /** The agent’s own question is no evidence of anything, and its answer grants nothing of Hob’s. */
  async #permission(params: Fields, signal: AbortSignal): Promise<unknown> {
    const { options, toolCall } = params;
    if (!Array.isArray(options)) throw wrongParams('options is a list');
    if (this.#agent.asks === 'allowed') {
      const once = (options as readonly Fields[]).find((option) => option?.['kind'] === 'allow_once');
      const outcome =
        once === undefined ? { outcome: 'cancelled' } : { outcome: 'selected', optionId: once['optionId'] };
      return { outcome };
    }
    const call = fieldsOf(toolCall ?? {});
    const title = `The agent asks, and Hob does not vouch for it: ${String(call['title'] ?? 'a permission')}`;
    return await this.#editor.request(
      'session/request_permission',
      { ...params, toolCall: { ...call, title } },
      signal,
    );
  }

  #told(method: string, given: unknown): void {
    // Nothing else that an agent tells its client of is known to Hob.
    if (method !== 'session/update' || typeof given !== 'object' || given === null) return;
    const params = given as Fields;
    if (this.#early !== undefined) {
      if (this.#early.length < MOST_EARLY) this.#early.push(params);
      return;
    }
    this.#show(params);
  }

  #show(params: Fields): void {
    if (params['sessionId'] !== this.#id || this.#isGone) return;
    this.#editor.notify('session/update', { ...params, update: this.#enriched(params['update']) });
  }

  #enriched(given: unknown): unknown {
    if (typeof given !== 'object' || given === null) return given;
    const update = given as Fields;
    const { sessionUpdate, toolCallId } = update;
    if (sessionUpdate !== 'tool_call' && sessionUpdate !== 'tool_call_update') return update;
    const id = String(toolCallId);
    const { update: shown, known } = enriched(update, this.#known.get(id), (cap, path) => this.editorPath(cap, path));
    if (known !== undefined && (this.#known.has(id) || this.#known.size < MOST_KNOWN)) this.#known.set(id, known);
    if (update['status'] === 'completed' || update['status'] === 'failed') this.#known.delete(id);
    return shown;
  }

  async #crashed(): Promise<void> {
    if (this.#isGone) return;
    await this.stop();
    await this.work.leave();
  }
}
