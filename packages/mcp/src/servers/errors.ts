/** The errors of a server of tools. Each names a remedy. No text has a path of the host or a value of a secret. */
import { CapError } from '@hob/vat';

/** The codes of a `CapError` that says what a server did. README.md has a table with the remedy of each. */
export type ServerCode =
  | 'SERVER_START'
  | 'SERVER_ENDED'
  | 'SERVER_TIMEOUT'
  | 'SERVER_FLOOD'
  | 'SERVER_PROTOCOL'
  | 'SERVER_TOO_LARGE'
  | 'SERVER_SCHEMA'
  | 'SERVER_ASKS'
  | 'SERVER_ERROR'
  | 'SERVER_BUSY'
  | 'TOOL_GONE';

const TEXTS: Readonly<Record<ServerCode, string>> = {
  SERVER_START: 'it did not start: the person who runs the host sees why',
  SERVER_ENDED: 'it ended during the call: call again, and it is started again',
  SERVER_TIMEOUT: 'it did not answer in time: ask for less, or call again later',
  SERVER_FLOOD: 'it sent far more than was asked for and was ended: call again, and it is started again',
  SERVER_PROTOCOL: 'it sent what is not the protocol and was ended: tell the person who runs the host',
  SERVER_TOO_LARGE: 'its result is too large: ask for less',
  SERVER_SCHEMA: 'its result does not fit the schema that it gave: tell the person who runs the host',
  SERVER_ASKS: 'it asked for a person or a model, which no server gets: call another tool',
  SERVER_ERROR: 'it refused the call',
  SERVER_BUSY: 'it works for too many calls, or had to be started too often: wait, then call again',
  TOOL_GONE: 'it has no such tool any more: tell the person who runs the host',
};

/** An error of the server `server`. `more` is text of ours, or escaped. */
export const serverError = (code: ServerCode, server: string, more?: string): CapError =>
  new CapError(code, `server ${server}: ${TEXTS[code]}${more === undefined ? '' : `: ${more}`}`);

/** Whether an error is one of the above. */
export const isServerError = (error: unknown): error is CapError =>
  error instanceof CapError && Object.hasOwn(TEXTS, error.code);
