/** A verb: its words for the model, its schemas, and the function that does it. */
import type { Answer } from '../text/answer.ts';
import type { ArgumentSchema, Arguments, RecordSchema } from './arguments.ts';

/** One call, as a verb sees it. */
export interface Call {
  readonly args: Arguments;
  /** Calls a method of the cap that the session holds under this petname. */
  send(cap: string, method: string, ...args: readonly unknown[]): Promise<unknown>;
}

/** A verb. */
export interface Verb {
  readonly name: string;
  /** For the model. */
  readonly about: string;
  readonly args: Readonly<Record<string, ArgumentSchema>>;
  readonly required: readonly string[];
  /** The fields of the data of an answer. An error has `code`, `message` and `ask` instead, so none is required. */
  readonly result: Readonly<Record<string, object>>;
  /** It changes nothing. */
  readonly readOnly?: true;
  run(call: Call): Promise<Answer>;
}

/** The argument that names a cap. */
export const CAP: ArgumentSchema = { type: 'string', description: 'petname, see caps' };

export const inputOf = ({ args, required }: Verb): RecordSchema => ({
  type: 'object',
  properties: args,
  required,
  additionalProperties: false,
});

export const outputOf = ({ result }: Verb): RecordSchema => ({ type: 'object', properties: result });
