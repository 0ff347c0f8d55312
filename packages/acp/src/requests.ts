/**
 * Requests for the person at the editor: those of sessions whose granter is `editor`.
 *
 * Promise: an answer is bound to the digest of what was shown. A late answer, one that names no option, a
 * cancelled turn and an editor that fails grant nothing. A request that changes while it is shown is shown
 * again. Nobody else’s sessions are shown.
 */
import { CapError, E, type Far } from '@hob/vat/peer';
import { textsOf } from './diff.ts';
import type { Asked, EditorGranter, Said } from './held.ts';
import { type Option, optionsOf, saidBy } from './options.ts';
import type { Peer } from './peer.ts';

/** The sessions of the editor, as requests look for theirs. */
export interface Asking {
  /** The id that the editor knows a session of Hob by; undefined if it is none of its own, or has not begun. */
  editorId(session: string): string | undefined;
  /** The path that the editor opens for a path of a cap. */
  editorPath(session: string, cap: string, path: string): string;
}

const LONGEST_TITLE = 300;

/** Shows requests until the connection of the granter ends. */
export class Requests {
  readonly #granter: Far<EditorGranter>;
  readonly #editor: Peer;
  readonly #sessions: Asking;
  readonly #say: (line: string) => void;
  /** Those that were shown, each with what takes it off the screen. */
  readonly #shown = new Map<string, { readonly session: string; readonly away: AbortController }>();

  constructor(granter: Far<EditorGranter>, editor: Peer, sessions: Asking, say: (line: string) => void) {
    this.#granter = granter;
    this.#editor = editor;
    this.#sessions = sessions;
    this.#say = say;
  }

  /** Resolves when the granter has gone. */
  async follow(): Promise<void> {
    let since: number | undefined;
    try {
      for (;;) {
        since = (await E(this.#granter).changed(...(since === undefined ? [] : [since]))) as number;
        await this.look();
      }
    } catch {
      this.#say('hob: the host has ended, or is restarting: requests are not shown here any more');
    }
  }

  /** Shows what is new, and takes away what was settled elsewhere. */
  async look(): Promise<void> {
    const waiting: Asked[] = [];
    for (let more = true; more; ) {
      const page = (await E(this.#granter).inbox(waiting.at(-1)?.id)) as readonly Asked[];
      waiting.push(...page);
      more = page.length > 0;
    }
    const ids = new Set(waiting.map(({ id }) => id));
    for (const [id, { away }] of this.#shown) {
      if (ids.has(id)) continue;
      this.#shown.delete(id);
      away.abort();
    }
    for (const asked of waiting) {
      const editorId = this.#sessions.editorId(asked.asker[0] ?? asked.session);
      if (editorId === undefined || this.#shown.has(asked.id)) continue;
      const away = new AbortController();
      this.#shown.set(asked.id, { session: editorId, away });
      void this.#ask(asked, editorId, away.signal);
    }
  }

  /** The turn of a session was cancelled: what it asked is refused. */
  cancel(session: string): void {
    for (const shown of this.#shown.values()) if (shown.session === session) shown.away.abort('cancelled');
  }

  async #ask(asked: Asked, sessionId: string, away: AbortSignal): Promise<void> {
    const options = optionsOf(asked);
    const toolCall = await this.#toolCall(asked);
    const shown = { sessionId, toolCall, options: options.map(({ said: _, ...option }: Option) => option) };
    const outcome = await this.#editor.request('session/request_permission', shown, away).catch((error: Error) => {
      if (!away.aborted)
        this.#say(
          `hob: the editor did not show a request, which waits for another granter: ${error.message.slice(0, 200)}`,
        );
      return away.aborted ? undefined : NOT_SHOWN;
    });
    if (outcome === NOT_SHOWN) return;
    // It was answered elsewhere, or has ended.
    if (away.aborted && away.reason !== 'cancelled') return this.#settled(sessionId, toolCall, 'completed');
    const said: Said = (away.aborted ? undefined : saidBy(outcome, options)) ?? {
      digest: asked.digest,
      refuse: 'nobody chose an answer in the editor',
    };
    try {
      await E(this.#granter).answer(asked.id, said);
    } catch (error) {
      if (!(error instanceof CapError)) throw error;
      this.#say(`hob: an answer came to nothing: ${error.code}`);
      return this.#settled(sessionId, toolCall, 'failed');
    }
    this.#settled(sessionId, toolCall, 'grant' in said ? 'completed' : 'failed');
  }

  #settled(sessionId: string, { toolCallId }: { readonly toolCallId: string }, status: 'completed' | 'failed'): void {
    this.#editor.notify('session/update', {
      sessionId,
      update: { sessionUpdate: 'tool_call_update', toolCallId, status },
    });
  }

  /** The request in the words of the host. */
  async #toolCall({
    id,
    kind,
    asks,
    asker,
    session,
    effect,
    table,
    diff,
    permits,
    flags,
    why,
  }: Asked): Promise<{ readonly toolCallId: string }> {
    const rows = [
      ...flags.map((flag) => `Note: ${flag}`),
      ...table.map(([name, value]) => `${name}: ${value}`),
      ...permits.map((line) => `A yes permits: ${line}`),
      ...(why === '' ? [] : [why]),
    ];
    const path = kind === 'call' && diff !== undefined ? await this.#pathOf(id) : undefined;
    const at = path === undefined ? undefined : this.#sessions.editorPath(asker[0] ?? session, asks, path);
    return {
      toolCallId: `hob-${id}`,
      title: effect.slice(0, LONGEST_TITLE),
      kind: diff === undefined ? 'other' : 'edit',
      status: 'pending',
      content: [
        ...(diff === undefined || at === undefined ? [] : [{ type: 'diff', path: at, ...textsOf(diff) }]),
        { type: 'content', content: { type: 'text', text: rows.join('\n') } },
      ],
      ...(at === undefined ? {} : { locations: [{ path: at }] }),
    } as { readonly toolCallId: string };
  }

  /** The path that a call changes. */
  async #pathOf(id: string): Promise<string | undefined> {
    const call = (await E(this.#granter)
      .requestedCall(id)
      .catch(() => undefined)) as { readonly args?: readonly unknown[] } | undefined;
    const path = call?.args?.[0];
    return typeof path === 'string' ? path : undefined;
  }
}

const NOT_SHOWN = Symbol('not shown');
