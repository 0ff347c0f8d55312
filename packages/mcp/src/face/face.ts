/**
 * The verbs of one session, without any protocol: what `hob mcp` serves over a transport.
 *
 * Promise: a call reaches the cap that the session holds under exactly the petname in its arguments, or none. A call
 * that does not fit its schema is not sent. Whatever a client sends, it gets an answer and no exception, and in time:
 * a call that takes longer waits on under an id. A cancelled call ends, with the job that it began. The list of verbs
 * is the same for the life of the face.
 */
import { takeOptions } from '@hob/vat/forwarder';
import { CapError, E, type Far } from '@hob/vat/peer';
import { type Answer, failed } from '../text/answer.ts';
import { Pages } from '../text/pages.ts';
import { quoted, type RecordSchema, readArguments } from '../verbs/arguments.ts';
import type { Held, HeldSession, Noted } from '../verbs/session.ts';
import { type Call, inputOf, type Job, outputOf, type Verb } from '../verbs/verb.ts';
import { type After, stillWaiting, Waits, within } from './waits.ts';

/** One verb as MCP lists it. */
export interface Definition {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: RecordSchema;
  readonly outputSchema: RecordSchema;
  readonly annotations: { readonly readOnlyHint: boolean };
}

/** What a face needs of the process. */
interface FaceParts {
  /** The bootstrap object of the session's connection. Called for each message, so that it may connect again. */
  readonly session: () => Promise<Far<HeldSession>>;
  readonly verbs: readonly Verb[];
  readonly after: After;
  /** A new name, of 16 letters or more, that nobody guesses. */
  readonly newName: () => string;
  /** How long a call may take before it returns without an answer, in ms. */
  readonly waitMs: number;
  /** Called when a person has granted what was asked for. */
  readonly onGrant?: () => void;
}

/** How one call is watched. */
export interface CallOptions {
  /** Ends the call. It does nothing once the call has returned. */
  readonly signal?: AbortSignal;
  /** Called every 5 s while the call runs, with the seconds since it began. */
  readonly onProgress?: (seconds: number) => void;
}

const PROGRESS = 5;
const MOST_JOBS = 64;

/** The verbs of one session. Made by `openFace`. */
export interface Face {
  /** The verbs, as MCP lists them. Frozen when the face opens. */
  readonly definitions: readonly Definition[];
  /** Makes the call of a client. Never rejects. */
  call(name: string, args: unknown, options?: CallOptions): Promise<Answer>;
  /** Ends the calls that have not returned, and those that wait on. Jobs in the background go on. */
  close(): Promise<void>;
}

/** The face of one session. */
export class VerbFace implements Face {
  readonly #parts: FaceParts;
  readonly #verbs: ReadonlyMap<string, Verb>;
  readonly #waits = new Waits();
  readonly #pages = new Pages();
  readonly #jobs = new Map<string, Job>();
  /** Ends each call that has not returned. */
  readonly #running = new Set<() => void>();
  readonly definitions: readonly Definition[];

  constructor(parts: FaceParts) {
    this.#parts = parts;
    this.#verbs = new Map(parts.verbs.map((verb) => [verb.name, verb]));
    this.definitions = Object.freeze(parts.verbs.map(definitionOf));
  }

  async call(name: string, given: unknown, options?: CallOptions): Promise<Answer> {
    const cap = (given as { readonly cap?: unknown } | null | undefined)?.cap;
    const refuse = (error: unknown): Answer => failed(error, typeof cap === 'string' ? cap : undefined);
    try {
      return await this.#call(name, given, takeOptions(options, 'call', { signal: true, onProgress: true }), refuse);
    } catch (error) {
      return refuse(error);
    }
  }

  async #call(
    name: string,
    given: unknown,
    { signal, onProgress }: CallOptions,
    refuse: (error: unknown) => Answer,
  ): Promise<Answer> {
    const verb = this.#verbs.get(name);
    if (verb === undefined)
      return refuse(new CapError('invalid', `there is no verb ${quoted(name)}: there are ${[...this.#verbs.keys()].join(', ')}`)); // biome-ignore format: one line
    const own = new OwnCall(this.#parts);
    const end = (): void => own.cancel();
    const over = this.#tell(onProgress);
    signal?.addEventListener('abort', end, { once: true });
    this.#running.add(end);
    try {
      const args = readArguments(given, inputOf(verb));
      signal?.throwIfAborted();
      const answer = verb.run(this.#callOf(own, args, signal)).catch(refuse);
      const whole = answer.then((one) => {
        own.over();
        return own.warned(this.#paged(one));
      });
      // `wait_for` itself returns in time, with the id that it was given.
      if (verb.name === 'wait_for') return await whole;
      const there = await within(this.#parts.after, whole, this.#parts.waitMs);
      return there?.value ?? stillWaiting(this.#waits.add({ answer: whole, cancel: end }));
    } catch (error) {
      return refuse(error);
    } finally {
      over();
      this.#running.delete(end);
      signal?.removeEventListener('abort', end);
    }
  }

  async close(): Promise<void> {
    for (const end of this.#running) end();
    for (const { cancel } of this.#waits.all()) cancel?.();
    await OwnCall.settled(this.#parts);
  }

  #callOf(own: OwnCall, args: Call['args'], signal: AbortSignal | undefined): Call {
    const { after, newName } = this.#parts;
    return {
      args,
      send: (cap, method, ...rest) => own.send(cap, method, rest),
      holdings: async () => (await E(await this.#parts.session()).holdings()) as readonly Held[],
      ask: (cap, terms, why) => this.#ask(cap, terms, why),
      keep: (id, answer) =>
        this.#waits.set(id, { answer: answer.catch((error) => failed(error)).then((one) => this.#paged(one)) }),
      waitFor: (id) => this.#waitFor(id, signal),
      jobs: this.#boundedJobs(),
      newJob: () => `j-${newName().slice(0, 8)}`,
      within: (promise, ms) => within(after, promise, ms),
    };
  }

  async #ask(cap: string, terms: object, why: string): Promise<{ readonly request: string; readonly outcome: Promise<string> }> {
    // A name of its own: a cancelled call does not take back what a person reads.
    const asked = await E(await this.#parts.session()).ask({ asks: cap, terms, why, call: this.#parts.newName() });
    const { request, outcome } = asked as unknown as { request: string; outcome: Promise<{ petname: string }> };
    const petname = outcome.then(({ petname: name }) => {
      this.#parts.onGrant?.();
      return name;
    });
    return { request, outcome: petname };
  } // biome-ignore format: one line

  async #waitFor(id: string, signal: AbortSignal | undefined): Promise<Answer> {
    const page = this.#pages.at(id);
    if (page !== undefined) return page;
    const { answer, cancel } = this.#waits.get(id);
    if (cancel !== undefined) signal?.addEventListener('abort', cancel, { once: true });
    try {
      const there = await within(this.#parts.after, answer, this.#parts.waitMs);
      return there?.value ?? stillWaiting(id);
    } finally {
      if (cancel !== undefined) signal?.removeEventListener('abort', cancel);
    }
  }

  #paged(answer: Answer): Answer {
    return answer.image === undefined ? this.#pages.first(answer) : answer;
  }

  #boundedJobs(): Map<string, Job> {
    const [oldest] = this.#jobs.keys();
    // The cap still knows it by its name.
    if (this.#jobs.size >= MOST_JOBS && oldest !== undefined) this.#jobs.delete(oldest);
    return this.#jobs;
  }

  /** Tells of progress until the returned function is called. */
  #tell(onProgress: CallOptions['onProgress']): () => void {
    if (onProgress === undefined) return () => {};
    let stop = (): void => {};
    const again = (seconds: number): void => {
      stop = this.#parts.after(PROGRESS * 1000, () => {
        onProgress(seconds);
        again(seconds + PROGRESS);
      });
    };
    again(PROGRESS);
    return () => stop();
  }
}

/** The messages of one call, which end together. */
class OwnCall {
  static readonly #ending = new WeakMap<object, Set<Promise<unknown>>>();
  readonly #parts: FaceParts;
  readonly #name: string;
  #sent = false;
  readonly #warnings: string[] = [];

  constructor(parts: FaceParts) {
    this.#parts = parts;
    this.#name = parts.newName();
  }

  async send(cap: string, method: string, args: readonly unknown[]): Promise<unknown> {
    const session = await this.#parts.session();
    this.#sent = true;
    const ended = (await E(session).call({ call: this.#name, cap, method, args, noted: true })) as Noted;
    this.#warnings.push(...ended.warnings);
    if (ended.ok) return ended.value;
    throw ended.error;
  }

  /** The answer, with the warnings of the host about what was sent for it. */
  warned(answer: Answer): Answer {
    return this.#warnings.length === 0 ? answer : { ...answer, warnings: [...this.#warnings] };
  }

  /** It has its answer: a later cancellation is ignored. A job that it began goes on. */
  over(): void {
    this.#sent = false;
  }

  cancel(): void {
    if (!this.#sent) return;
    const ending = this.#parts.session().then((session) => E(session).cancel(this.#name));
    const all = OwnCall.#ending.get(this.#parts) ?? new Set();
    OwnCall.#ending.set(this.#parts, all.add(ending));
    // The session may have ended, and its calls with it.
    ending.catch(() => {}).finally(() => all.delete(ending));
  }

  /** Resolves when the cancelled calls have ended. */
  static async settled(parts: FaceParts): Promise<void> {
    await Promise.allSettled([...(OwnCall.#ending.get(parts) ?? [])]);
  }
}

const definitionOf = (verb: Verb): Definition =>
  Object.freeze({
    name: verb.name,
    description: verb.about,
    inputSchema: inputOf(verb),
    outputSchema: outputOf(verb),
    annotations: { readOnlyHint: verb.readOnly === true },
  });
