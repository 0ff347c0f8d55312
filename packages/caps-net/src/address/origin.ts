/** The origin of a grant: scheme, host and port, written the one way that a URL parser writes it. */
import { takeText } from '../base/arguments.ts';
import { refusal } from '../base/errors.ts';
import { type Host, takeHost } from './host.ts';

/** An origin, taken apart. */
export interface Origin {
  readonly text: string;
  readonly secure: boolean;
  readonly host: Host;
  readonly port: number;
}

/** Errors: `invalid`, `E_HOST`. */
export function takeOrigin(given: unknown, what: string): Origin {
  const text = takeText(given, what, 2_048);
  const [, scheme, spelled = '', port] = /^(https?):\/\/(\[[^\]]*\]|[^/:?#@[\]]*)(?::([0-9]{1,5}))?$/.exec(text) ?? [];
  if (scheme === undefined) throw refusal('invalid', `${what} is written as https://host or https://host:port`);
  const host = takeHost(spelled);
  const secure = scheme === 'https';
  const number = port === undefined ? (secure ? 443 : 80) : Number(port);
  // A URL parser has one spelling of a port too, and leaves out the usual one.
  if (number < 1 || number > 65_535 || new URL(text).origin !== text)
    throw refusal('invalid', `${what} has its port written otherwise`);
  return Object.freeze({ text, secure, host, port: number });
}
