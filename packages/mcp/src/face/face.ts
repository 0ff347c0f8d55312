/**
 * The verbs of one session, without any protocol: what `hob mcp` serves over a transport.
 *
 * Promise: a call reaches the cap that the session holds under exactly the petname in its arguments, or none. A call
 * that does not fit its schema is not sent. Whatever a client sends, it gets an answer and no exception. The list of
 * verbs is the same for the life of the face.
 */
import { CapError, E, type Far } from '@hob/vat';
import { type Answer, failed } from '../text/answer.ts';
import { quoted, type RecordSchema, readArguments } from '../verbs/arguments.ts';
import { edit, list, read, search, write } from '../verbs/files.ts';
import { inputOf, outputOf, type Verb } from '../verbs/verb.ts';

/** The bootstrap object of a session's connection, as far as a face uses it: `SessionFace` of `@hob/host` is one. */
export interface HeldSession {
  cap(petname: string): object;
}

/** One verb as MCP lists it. */
export interface Definition {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: RecordSchema;
  readonly outputSchema: RecordSchema;
  readonly annotations: { readonly readOnlyHint: boolean };
}

/** The verbs of one session. Made by `openFace`. */
export class Face {
  readonly #session: Far<HeldSession>;
  readonly #verbs: ReadonlyMap<string, Verb>;
  /** Frozen when the face opens. */
  readonly definitions: readonly Definition[];

  constructor(session: Far<HeldSession>, verbs: readonly Verb[]) {
    this.#session = session;
    this.#verbs = new Map(verbs.map((verb) => [verb.name, verb]));
    this.definitions = Object.freeze(verbs.map(definitionOf));
  }

  /** Makes the call of a client. Never rejects. */
  async call(name: string, given: unknown): Promise<Answer> {
    const verb = this.#verbs.get(name);
    const cap = (given as { readonly cap?: unknown } | null | undefined)?.cap;
    try {
      if (verb === undefined)
        throw new CapError('invalid', `there is no verb ${quoted(name)}: there are ${[...this.#verbs.keys()].join(', ')}`); // biome-ignore format: one line
      const args = readArguments(given, inputOf(verb));
      return await verb.run({ args, send: (petname, method, ...rest) => this.#send(petname, method, rest) });
    } catch (error) {
      return failed(error, typeof cap === 'string' ? cap : undefined);
    }
  }

  #send(petname: string, method: string, args: readonly unknown[]): Promise<unknown> {
    const cap = E(E(this.#session).cap(petname)) as unknown as Readonly<
      Record<string, ((...rest: readonly unknown[]) => Promise<unknown>) | undefined>
    >;
    const call = cap[method];
    if (call === undefined) throw new CapError('no-such-method', 'that cannot be the name of a method');
    return call(...args);
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

/** Makes the face of a session, of the bootstrap object of its connection. */
export async function openFace(session: Far<HeldSession>): Promise<Face> {
  return new Face(session, [read, write, edit, list, search]);
}
