/** Certificates of a grant: a text in PEM, or a secret that has it, which is read for each connection. */
import { takeRecord, takeText } from '../base/arguments.ts';
import { refusal } from '../base/errors.ts';
import { Secret } from './secret.ts';

/** A certificate in PEM, and its private key. */
export interface ClientCertificate {
  readonly cert: string | Secret;
  readonly key: Secret;
}

const LONGEST = 65_536;

/** Errors: `invalid`, `limit`. */
export function takeCertificates(given: unknown, what: string, most: number): string | Secret | undefined {
  return given === undefined || given instanceof Secret ? given : takeText(given, what, most);
}

/** Errors: `invalid`, `limit`. */
export function takeClient(given: unknown, secure: boolean): ClientCertificate | undefined {
  if (given === undefined) return undefined;
  const { cert, key } = takeRecord(given, 'client', ['cert', 'key']);
  if (!(key instanceof Secret)) throw refusal('invalid', 'client.key is made by makeSecret');
  if (!secure) throw refusal('invalid', 'a client certificate goes with TLS');
  return Object.freeze({ cert: cert instanceof Secret ? cert : takeText(cert, 'client.cert', LONGEST), key });
}

export const certificateText = (given: string | Secret): string => (given instanceof Secret ? given.use() : given);
