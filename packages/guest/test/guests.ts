/** Guests for a test, closed after it, and what a program came to. */
import { onTestFinished } from 'vitest';
import {
  type EvaluateOptions,
  type Evaluation,
  type EvaluationError,
  type Guests,
  type GuestsOptions,
  openGuests,
} from '../src/index.ts';

export async function guestsFor(options: GuestsOptions): Promise<Guests> {
  const guests = await openGuests(options);
  onTestFinished(() => guests.close());
  return guests;
}

/** The evaluation, or the error that it broke with. */
export async function outcome(
  guests: Guests,
  source: string,
  options: Partial<EvaluateOptions> = {},
): Promise<Evaluation & Partial<EvaluationError>> {
  try {
    return await guests.evaluate(source, { caps: {}, ...options });
  } catch (error) {
    return { value: undefined, ...(error as EvaluationError), message: (error as Error).message };
  }
}

/** `[what, program, what it comes to]` rows, all at once. */
export async function table(
  guests: Guests,
  rows: readonly (readonly [source: string, pattern: RegExp | string])[],
  options: Partial<EvaluateOptions> = {},
): Promise<string[]> {
  const came = await Promise.all(
    rows.map(async ([source, wanted]) => {
      const { value, code, message } = await outcome(guests, source, options);
      const text = code === undefined ? String(JSON.stringify(value)) : `${code}: ${message}`;
      const fits = typeof wanted === 'string' ? text === wanted : wanted.test(text);
      return fits ? undefined : `${source}\n  came to ${text.slice(0, 400)}\n  instead of ${wanted}`;
    }),
  );
  return came.filter((fault) => fault !== undefined);
}
