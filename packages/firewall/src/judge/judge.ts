/**
 * Has a model read each request that waits for a person.
 *
 * Promise: it holds the judge facet and nothing else, so it can propose and refuse, and nothing grants. Each request is
 * asked about once. A refusal ends that request and no other one, and nothing of a verdict is kept. No answer in time,
 * a failure, and any answer but the two is no opinion: the person decides. What is about a person in danger is never
 * shown to a model.
 */
import type { Judge, Request } from '@hob/host';
import { E, type Far } from '@hob/vat';
import { takeOptions } from '@hob/vat/forwarder';
import { type CrisisDetector, detectCrisis } from '../crisis/detect.ts';
import { textsOf } from '../crisis/reading/texts.ts';
import { type JudgeModel, ModelFailure } from './model.ts';
import { type JudgeAct, questionOf } from './question.ts';
import { type Verdict, verdictOf } from './verdict.ts';

/** The options of a judge runner. */
export interface JudgeOptions {
  /** The facet that a granter gave: `E(granter).judge()`. */
  readonly judge: Far<Judge>;
  readonly model: JudgeModel;
  readonly may: readonly JudgeAct[];
  /** How long a model may take for one request, in ms. 20 s by default. */
  readonly timeoutMs?: number;
  /** A timer, and texts that nobody guesses: `judgePowers()`. */
  readonly powers: JudgePowers;
  /** Gets a line for each opinion and each failure. No word of an agent or of the model is in it. */
  readonly say?: (line: string) => void;
  readonly crisis?: CrisisDetector;
}

/** The powers of the process that a runner needs. */
export interface JudgePowers {
  /** Calls `then` once after `ms`, unless the returned function is called before. */
  after(ms: number, then: () => void): () => void;
  newMark(): string;
}

/** Has the model read what waits, one request after another. */
export interface JudgeRunner {
  /** Looks at what waits now. Call it for each new request. Returns at once. */
  look(): void;
  /** Resolves when nothing is left to look at. */
  idle(): Promise<void>;
  /** Asks no more, and gives up what it asks now. */
  close(): Promise<void>;
}

const names = { judge: true, model: true, may: true, timeoutMs: true, powers: true, say: true, crisis: true } as const;

/** Errors: `invalid`. */
export function runJudge(given: JudgeOptions): JudgeRunner {
  const options = takeOptions(given, 'runJudge', names);
  return new Runner(options);
}

class Runner implements JudgeRunner {
  readonly #options: JudgeOptions;
  readonly #end = new AbortController();
  /** The requests that were asked about and still wait. */
  #known: ReadonlySet<string> = new Set();
  #again = false;
  #running: Promise<void> | undefined;

  constructor(options: JudgeOptions) {
    this.#options = options;
  }

  look(): void {
    if (this.#end.signal.aborted) return;
    this.#again = true;
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
    });
  }

  async idle(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }

  async close(): Promise<void> {
    this.#end.abort();
    await this.idle();
  }

  async #run(): Promise<void> {
    while (this.#again && !this.#end.signal.aborted) {
      this.#again = false;
      try {
        await this.#lookOnce();
      } catch (error) {
        this.#say(`the judge cannot read the requests (${codeOf(error)})`);
      }
    }
  }

  async #lookOnce(): Promise<void> {
    const waiting = new Set<string>();
    let after: string | undefined;
    for (;;) {
      const page = (await E(this.#options.judge).inbox(...(after === undefined ? [] : [after]))) as readonly Request[];
      for (const request of page) {
        waiting.add(request.id);
        if (!this.#known.has(request.id) && !this.#end.signal.aborted) await this.#judge(request);
      }
      after = page.at(-1)?.id;
      if (after === undefined) break;
    }
    this.#known = waiting;
  }

  async #judge(request: Request): Promise<void> {
    const { may, powers } = this.#options;
    const question = this.#isAboutDanger(request) ? undefined : questionOf(request, may, powers.newMark());
    if (question === undefined) return;
    const answer = await this.#answerTo(question);
    const verdict = answer === undefined ? undefined : verdictOf(answer, request.kind);
    if (verdict === undefined || !may.includes(verdict.what)) return;
    await this.#tell(request.id, verdict);
  }

  #isAboutDanger(request: Request): boolean {
    const { crisis = detectCrisis } = this.#options;
    try {
      const texts = textsOf([request.table, request.diff, request.why]);
      const context = { session: request.session, petname: request.asks, method: request.kind };
      return texts === undefined || texts.some((text) => crisis(withNames(text, request.asker), context).sensitive);
    } catch {
      return true;
    }
  }

  async #answerTo(question: Parameters<JudgeModel['ask']>[0]): Promise<string | undefined> {
    const { model, powers, timeoutMs = 20_000 } = this.#options;
    const over = new AbortController();
    const signal = AbortSignal.any([over.signal, this.#end.signal]);
    const ended = Promise.withResolvers<undefined>();
    signal.addEventListener('abort', () => ended.resolve(undefined), { once: true });
    const stop = powers.after(timeoutMs, () => over.abort());
    try {
      // A model that does not heed its signal holds up nothing.
      return await Promise.race([model.ask(question, signal), ended.promise]);
    } catch (error) {
      if (!signal.aborted) this.#say(`the judge has no opinion (${error instanceof ModelFailure ? error.message : 'fault'})`); // biome-ignore format: one line
      return undefined;
    } finally {
      stop();
      if (over.signal.aborted) this.#say('the judge has no opinion (no answer in time)');
    }
  }

  async #tell(id: string, verdict: Verdict): Promise<void> {
    const { judge } = this.#options;
    try {
      if (verdict.what === 'refuse') await E(judge).refuse(id, verdict.why);
      else await E(judge).propose(id, verdict.terms, verdict.why);
      this.#say(`the judge ${verdict.what === 'refuse' ? 'refused' : 'made a proposal for'} ${id}`);
    } catch (error) {
      // It was answered meanwhile, or its terms are odd.
      this.#say(`the judge’s opinion about ${id} came to nothing (${codeOf(error)})`);
    }
  }

  #say(line: string): void {
    this.#options.say?.(line);
  }
}

/**
 * Replaces the ids of sessions in a text by their names. A host ends each id with random characters, such as `4him1` in
 * `work-4him1`. By chance they could look like a word about danger. Then no request of that session would be judged.
 */
const withNames = (text: string, sessions: readonly string[]): string =>
  sessions.reduce((all, id) => all.replaceAll(id, id.slice(0, Math.max(0, id.lastIndexOf('-')))), text);

const codeOf = (error: unknown): string => {
  const code = (error as { readonly code?: unknown } | undefined)?.code;
  return typeof code === 'string' && /^[A-Za-z_-]{1,40}$/.test(code) ? code : 'fault';
};
