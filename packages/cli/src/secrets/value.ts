/** The names and values of secrets that are taken at the command line. */
import { wrongWithSecret } from '@hob/caps-net/secret';
import { Mistake } from '../line/mistake.ts';

/** Errors: `Mistake`. */
export function checkSecretName(name: string): string {
  if (/^[A-Za-z][A-Za-z0-9_-]{0,62}$/.test(name)) return name;
  throw new Mistake('the name of a secret has letters, digits, _ and -, begins with a letter, and has at most 63: GH_TOKEN', 2); // biome-ignore format: one line
}

/** Errors: `Mistake`, which names no part of the value. */
export function checkSecretValue(value: string): string {
  const wrong = wrongWithSecret(value);
  if (wrong === undefined) return value;
  throw new Mistake(`nothing was stored: ${wrong}`);
}
