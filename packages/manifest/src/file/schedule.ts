/** The shapes of what runs later: the agents that are started, and the caps that say when and with what. */
import { duration, list, name, oneOf, type RecordOf, record, say, terms, text } from './shapes.ts';
import { milliseconds } from './terms.ts';
import type { Agent, ScheduleCap } from './types.ts';

/** A program with its arguments. No text of a session is ever a part of it. */
export const agent: RecordOf<Agent> = record('an agent', {
  command: list('command', text('a word', 'claude'), '[claude, -p]', 100),
  secrets: list('secrets', name('a secret'), '[MODEL_KEY]', 64).optional(),
});

const isZone = (given: string): boolean => {
  try {
    new Intl.DateTimeFormat('en', { timeZone: given });
    return true;
  } catch {
    return false;
  }
};

/** Tasks that run later, each in a fresh session. */
export const schedule: RecordOf<ScheduleCap> = record('a schedule cap', {
  schedule: name('schedule'),
  gives: list('gives', name('a cap'), '[notes]', 100),
  shortest: duration
    .refine((given) => milliseconds(given) >= 60_000, {
      error: say('shortest is less than 1m', 'write for example 1h'),
    })
    .optional(),
  missed: oneOf('missed', ['late', 'never']).optional(),
  zone: text('zone', 'Europe/Berlin')
    .max(64)
    .refine(isZone, { error: say('this is no time zone', 'write for example Europe/Berlin or UTC') })
    .optional(),
  lasts: duration
    .refine((given) => milliseconds(given) <= 86_400_000, {
      error: say('lasts is more than 1d', 'write for example 30m'),
    })
    .optional(),
  ...terms,
});
