/**
 * Tools for a model, made of the caps that a session holds.
 *
 * A tool is a verb. Its argument `cap` is a petname, which says which cap to use.
 *
 * Promise: a name is taken as it is written, or refused, here and in a loop that repairs names by likeness. A call
 * reaches the cap that the session holds under exactly that petname, or none. A refusal says which cap to ask for.
 * Whatever a model sends, the loop gets a text and no exception.
 */
import { CapError, E, isReference } from '@hob/vat';
import { takeOptions } from '@hob/vat/forwarder';
import { argumentsFrom, checked, quoted, type Schema } from './arguments.ts';
import { newName } from './drivers/names.ts';
import { tooClose } from './likeness.ts';
import { forModel, shown } from './shown.ts';
import { type Args, count, DIRECTORY, type Kind, MKDIR, type Verb, WRITE } from './verbs.ts';

/** The result of a call, as text for a model. */
export interface Result {
  readonly text: string;
  readonly isError: boolean;
  /** The code of the refusal or the failure. */
  readonly code?: string;
  /** Warnings of the host, for example that calls go round in circles. The text has them, too. */
  readonly warnings?: readonly string[];
}

/** One tool, as data. Each loop has its own shape for it. */
export interface Described {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly parameters: ObjectSchema;
}

/** JSON Schema of the arguments of a tool. */
export interface ObjectSchema {
  // A type of an SDK may want an index signature, which only a type alias has by itself.
  readonly [key: string]: unknown;
  readonly type: 'object';
  readonly properties: Record<string, Schema>;
  readonly required: string[];
  readonly additionalProperties: false;
}

/** The used part of a session: its bootstrap object over a connection, or the session of a host in this process. */
export interface Holder {
  caps(): unknown;
  cap(petname: string): unknown;
  call?(call: { call: string; cap: string; method: string; args: readonly unknown[]; noted: true }): unknown;
  request?(ask: { readonly asks: string; readonly terms: object; readonly why: string }): unknown;
}

/** Which caps have which verbs. */
export interface ToolsOptions {
  /** The verbs of every cap that is not named. A directory's, if nothing is said. */
  readonly otherwise?: Kind;
  /** Whether the model may ask a person for more. By default, where the session can. */
  readonly canRequest?: boolean;
}

const REQUEST = 'request';
const ask = 'Asks a person for a cap that you do not hold, or for more of one. Waits for the answer.';
const requestParameters: Readonly<Record<string, Schema>> = {
  cap: { type: 'string', description: 'its name' },
  why: { type: 'string', description: 'shown to the person, as your words' },
  uses: count,
  seconds: count,
};
const ended: ReadonlySet<string> = new Set(['revoked', 'expired', 'exhausted', 'denied', 'no-such-object']);
const outside: ReadonlySet<string> = new Set(['PATH_ESCAPES', 'PATH_ABSOLUTE']);
/** The most letters of an error of a cap that a model gets. */
const longestMessage = 2000;
const longestCode = 64;
const unknown: ReadonlySet<string> = new Set(['disconnected', 'unknown-outcome', 'restarted']);

/** The tools of one session. `Tools` has them in the shapes of agent loops. */
export class Toolbox {
  readonly #session: Holder;
  readonly #kinds: ReadonlyMap<string, Kind>;
  readonly #otherwise: Kind;
  readonly #canRequest: boolean;
  readonly #verbs = new Map<string, Verb>();
  #held: readonly string[] = [];

  /** Knows no cap before `look`. */
  constructor(session: object, kinds: Readonly<Record<string, Kind>>, options?: ToolsOptions) {
    const { otherwise, canRequest } = takeOptions(options, 'of', { otherwise: true, canRequest: true });
    this.#session = isReference(session) ? (E(session) as unknown as Holder) : (session as Holder);
    this.#kinds = new Map(Object.entries(kinds));
    this.#otherwise = otherwise ?? DIRECTORY;
    this.#canRequest = canRequest ?? (isReference(session) || typeof this.#session.request === 'function');
    for (const verb of [...this.#kinds.values(), this.#otherwise].flat()) {
      if (this.#verbs.has(verb.name) && this.#verbs.get(verb.name) !== verb)
        throw new CapError('invalid', `two verbs are called "${verb.name}": a model could not tell them apart`);
      this.#verbs.set(verb.name, verb);
    }
    if (this.#verbs.has(REQUEST))
      throw new CapError('invalid', `"${REQUEST}" is how a model asks for more: give your verb another name`);
    const close = tooClose([...this.#verbs.keys(), ...(this.#canRequest ? [REQUEST] : [])]);
    if (close !== undefined) {
      const own = new Set([REQUEST, ...[...this.#kinds.values()].flat().map(({ name }) => name)]);
      const less = close.every((name) => own.has(name))
        ? ''
        : ', or leave out the verbs of all caps that you did not name: { otherwise: [] }';
      throw new CapError(
        'invalid',
        `a typo turns "${close[0]}" into "${close[1]}": give one of them a name that is further away${less}`,
      );
    }
  }

  /** Reads again which caps the session holds: one may have been granted or revoked since. Returns itself. */
  async look(): Promise<this> {
    this.#held = [...((await this.#session.caps()) as readonly string[])].sort();
    return this;
  }

  /** The names of the tools that are offered now: the verbs of the caps that are held. */
  get names(): readonly string[] {
    const offered = [...this.#verbs.keys()].filter((name) => this.#petnames(name).length > 0);
    return this.#canRequest ? [...offered, REQUEST] : offered;
  }

  /**
   * The tools that are offered now, as data. `loose` leaves the petnames out of what a loop checks by itself, so that
   * a call for another cap reaches us and gets a refusal that says what to ask for.
   */
  describe(options?: { readonly loose?: boolean }): readonly Described[] {
    const { loose = false } = takeOptions(options, 'describe', { loose: true });
    return this.names.map((name) => {
      const verb = this.#verbs.get(name);
      if (verb === undefined)
        return { name, description: ask, parameters: objectSchema(requestParameters, ['cap', 'why']) };
      const petnames = this.#petnames(name);
      const cap: Schema = loose
        ? { type: 'string', description: `which of your caps: ${petnames.join(', ')}` }
        : { type: 'string', description: 'which of your caps', enum: petnames };
      const required = ['cap', ...Object.keys(verb.parameters).filter((each) => !verb.optional.includes(each))];
      return { name, description: verb.description, parameters: objectSchema({ cap, ...verb.parameters }, required) };
    });
  }

  /**
   * Makes the call of a model. Never rejects, whatever a model sent or a cap returned. A call of a gated cap and a
   * request wait for a person. When `signal` fires the wait ends; what was sent may still happen. Nothing is sent
   * after `signal` has fired.
   */
  async call(name: unknown, given: unknown, options?: { readonly signal?: AbortSignal | undefined }): Promise<Result> {
    try {
      const { signal } = takeOptions(options, 'call', { signal: true });
      const args = argumentsFrom(given);
      if (name === REQUEST && this.#canRequest) return await this.#ask(args, signal);
      const { verb, petname } = await this.#chosen(name, args);
      const { cap: _, ...rest } = args;
      const fitting = checked(rest, verb.parameters, verb.optional);
      if (signal?.aborted) throw notSent();
      const { warnings, ...ended } = await until(signal, this.#send(verb, petname, fitting)).catch(
        (error: unknown): Ended => ({ ok: false, error, warnings: [] }),
      );
      return warned(ended.ok ? done(shown(ended.value)) : this.#failed(petname, ended.error, verb, fitting), warnings);
    } catch (error) {
      return refused(error);
    }
  }

  /** Finds the verb and the cap that are meant. Errors: `invalid`, `no-such-object`. */
  async #chosen(name: unknown, args: Readonly<Record<string, unknown>>): Promise<{ verb: Verb; petname: string }> {
    const verb = typeof name === 'string' ? this.#verbs.get(name) : undefined;
    if (verb === undefined)
      throw new CapError('invalid', `there is no such tool: there are ${this.names.join(', ') || 'none'}`);
    const petname = args['cap'];
    if (typeof petname !== 'string')
      throw new CapError('invalid', `say in "cap" which of your caps: ${this.#holders(verb.name)}`);
    // It may have been granted since.
    if (!this.#held.includes(petname)) await this.look();
    if (!this.#held.includes(petname)) {
      const held = this.#held.join(', ') || 'nothing';
      const text = `you hold no ${quoted(petname)}. You hold: ${held}. ${this.#howToAsk(petname)}`;
      throw new CapError('no-such-object', text);
    }
    if (!this.#kind(petname).includes(verb))
      throw new CapError('invalid', `"${petname}" cannot do that: ${verb.name} is for ${this.#holders(verb.name)}`);
    return { verb, petname };
  }

  /** A session says how a call ended, and what the host says about it. A verb with its own `send` does it itself. */
  async #send(verb: Verb, petname: string, args: Args): Promise<Ended> {
    const { message } = verb;
    if (message === undefined || this.#session.call === undefined)
      return { ok: true, value: await verb.send(this.#session.cap(petname) as object, args), warnings: [] };
    const [method, sent] = message(args);
    return (await this.#session.call({ call: newName(), cap: petname, method, args: sent, noted: true })) as Ended;
  }

  async #ask(args: Readonly<Record<string, unknown>>, signal: AbortSignal | undefined): Promise<Result> {
    const { cap, why, uses, seconds } = checked(args, requestParameters, ['uses', 'seconds']);
    const terms = {
      ...(uses === undefined ? {} : { uses }),
      ...(seconds === undefined ? {} : { for: (seconds as number) * 1000 }),
    };
    if (this.#session.request === undefined)
      throw new CapError('unavailable', 'this session cannot ask from here: the host program grants');
    if (signal?.aborted) throw notSent();
    await until(signal, this.#session.request({ asks: cap as string, terms, why: why as string }));
    await this.look();
    return done(`granted. You hold: ${this.#held.join(', ')}`);
  }

  #kind(petname: string): Kind {
    return this.#kinds.get(petname) ?? this.#otherwise;
  }

  #petnames(name: string): string[] {
    return this.#held.filter((petname) => this.#kind(petname).some((verb) => verb.name === name));
  }

  #holders(name: string): string {
    return this.#petnames(name).join(', ') || 'nothing that you hold';
  }

  #failed(petname: string, error: unknown, { name }: Verb, { path }: Args): Result {
    const { code, message } = told(error);
    if (unknown.has(code))
      return wrong(`unknown (${code}): it may have happened or not, look before you repeat it`, code);
    if (ended.has(code)) return wrong(`refused (${code}): ${message}. ${this.#howToAsk(petname)}`, code);
    const advice =
      typeof path === 'string' ? adviceAbout(path, { code, name, petname, kind: this.#kind(petname) }) : undefined;
    if (advice !== undefined) return wrong(`failed (${code}): ${message}${advice}`, code);
    if (!outside.has(code)) return wrong(`failed (${code}): ${message}`, code);
    const where = `${quoted(petname)} ends at its own directory, and paths are relative to it`;
    return wrong(`failed (${code}): ${message}: ${where}. ${this.#howToAsk('…')} names a cap of another one`, code);
  }

  #howToAsk(petname: string): string {
    return this.#canRequest
      ? `Ask for it: ${REQUEST} {"cap": ${quoted(petname)}, "why": "…"}`
      : `Ask the person you work for to grant ${quoted(petname)}`;
  }
}

/** What else to write in place of a path that a model took from a shell, or whose directory is not there. */
function adviceAbout(
  path: string,
  told: { readonly code: string; readonly name: string; readonly petname: string; readonly kind: Kind },
): string | undefined {
  const { code, name, petname, kind } = told;
  const names = path.replace(/^\/+|\/+$/g, '').split('/');
  if (code === 'PATH_ABSOLUTE' && names[0] !== '' && !names.includes('..')) {
    // Only advice: the model names the path that it means, and the cap judges that.
    const below = names.slice(1).join('/') || '.';
    return `: write "path": ${quoted(below)} for what a shell calls ${quoted(path)}, if ${quoted(petname)} is mounted there`;
  }
  if (code !== 'NOT_FOUND' || name !== WRITE.name || !path.includes('/') || !kind.includes(MKDIR)) return undefined;
  const above = quoted(path.slice(0, path.lastIndexOf('/')));
  return `. To write there, make the directory first: ${MKDIR.name} {"cap": ${quoted(petname)}, "path": ${above}}`;
}

const objectSchema = (properties: Readonly<Record<string, Schema>>, required: string[]): ObjectSchema => ({
  type: 'object',
  properties: { ...properties },
  required,
  additionalProperties: false,
});

/** The end of a call: `NotedResult` of the host. */
type Ended = { readonly warnings: readonly string[] } & (
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly error: unknown }
);

/** Most loops show their model only the text, so it has the warnings, too. */
function warned(result: Result, warnings: readonly string[]): Result {
  if (warnings.length === 0) return result;
  const said = warnings.map((warning) => forModel(warning, longestMessage));
  return { ...result, text: [result.text, ...said].join('\n'), warnings: said };
}

const done = (text: string): Result => ({ text, isError: false });
const wrong = (text: string, code: string): Result => ({ text, isError: true, code });

function refused(error: unknown): Result {
  const { code, message } = told(error);
  return wrong(`refused (${code}): ${message}`, code);
}

/** The code and the message of an error of a cap. Of any other error, which may name anything, only that it is one. */
function told(error: unknown): { readonly code: string; readonly message: string } {
  // A cap may be an actor of somebody else, who writes the message.
  if (error instanceof CapError)
    return { code: forModel(error.code, longestCode), message: forModel(error.message, longestMessage) };
  return { code: 'fault', message: 'the tool failed for a reason of its own: tell the person you work for' };
}

const notSent = (): CapError =>
  new CapError('unavailable', 'the wait was given up before this was sent: nothing happened');

/** Waits for `sent`, or until `signal` fires. */
function until<T>(signal: AbortSignal | undefined, sent: T | Promise<T>): Promise<T> {
  const waited = Promise.resolve(sent);
  if (signal === undefined) return waited;
  waited.catch(() => {});
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(new CapError('unknown-outcome', 'nobody waits for this call any more'));
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    waited.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}
