/**
 * The shapes that the schema of a manifest is made of: records, names, lists, times, each with its two-line message.
 */
import * as z from 'zod';
import { nearest, quoted } from '../text/mistakes.ts';
import { DURATION, LONGEST_MS, milliseconds } from './terms.ts';

/** The key that says what a cap is. */
export type Kind =
  | 'fs'
  | 'command'
  | 'shell'
  | 'http'
  | 'mcp'
  | 'message'
  | 'host'
  | 'unix'
  | 'forward'
  | 'sign'
  | 'schedule';
/** The kinds of caps: a cap has exactly one of these keys. */
export const kinds: readonly Kind[] = [
  ...(['fs', 'command', 'shell', 'http', 'mcp', 'message'] as const),
  ...(['host', 'unix', 'forward', 'sign', 'schedule'] as const),
];

/** The schema of a record of this type, which can be extended. */
export type RecordOf<T> = z.ZodObject<
  {
    readonly [K in keyof T]-?: undefined extends T[K]
      ? z.ZodOptional<z.ZodType<Exclude<T[K], undefined>, Exclude<T[K], undefined>>>
      : z.ZodType<T[K], T[K]>;
  },
  z.core.$strict
>;

/** Joins the two lines of a message. */
export const say = (wrong: string, write: string): string => `${wrong}\n${write}`;

export const MOST_NAMES: number = 2000;
const NAME = /^[A-Za-z][A-Za-z0-9_-]{0,62}$/;
export const FLAG_SET: RegExp = /^[A-Za-z][A-Za-z0-9_-]{0,62}(?:\.[A-Za-z][A-Za-z0-9_-]{0,62})?$/;
// Code is not made at run time: the packages also run where that is not allowed.
z.config({ jitless: true });

/** A record with these keys and no others. A key that is not known is answered with the nearest one that is. */
export function record<S extends z.core.$ZodLooseShape>(what: string, shape: S): z.ZodObject<S, z.core.$strict> {
  const known = Object.keys(shape);
  return z.strictObject(shape, {
    error: (issue) => {
      if (issue.code !== 'unrecognized_keys') return say(`${what} is a record`, `write one with ${known.join(', ')}`);
      const name = (issue as unknown as { keys: readonly string[] }).keys[0] ?? '';
      if (/ cap\b/.test(what) && kinds.some((kind) => kind === name))
        return say('a cap has one kind, and this has two', 'make a cap of each');
      const meant = nearest(name, known);
      return say(
        `${what} has no ${quoted(name)}`,
        meant === undefined ? `write one of ${known.join(', ')}` : `did you mean ${meant}?`,
      );
    },
  });
}

/** Adds all checks at once. Each call of `min` or `max` would copy the schema, and a manifest has hundreds of texts. */
export const text = (what: string, example: string, ...more: readonly z.core.$ZodCheck<string>[]): z.ZodString =>
  z
    .string({ error: say(`${what} is a text`, `write for example ${example}`) })
    .check(
      z.minLength(1, { error: say(`${what} is empty`, `write for example ${example}`) }),
      z.maxLength(4096, { error: say(`${what} is longer than 4,096 characters`, 'shorten it') }),
      ...more,
    );
export const oneOf = <const T extends readonly [string, ...string[]]>(
  what: string,
  values: T,
): z.ZodEnum<{ [K in T[number]]: K }> =>
  z.enum(values, {
    error: say(`${what} is not one of ${values.join(', ')}`, `write ${values[0]}, or another of them`),
  });
export const name = (what: string): z.ZodString =>
  text(
    what,
    'docs',
    z.regex(NAME, {
      error: say(`${what} is not a name`, 'write letters, digits, _ and -, beginning with a letter, at most 63'),
    }),
  );
export const named = <V extends z.ZodType>(what: string, value: V): z.ZodRecord<z.ZodString, V> =>
  z
    .record(name(what), value, {
      error: (issue) =>
        issue.code === 'invalid_key'
          ? say(
              `a name in ${what} is not a name`,
              'write letters, digits, _ and -, beginning with a letter, at most 63',
            )
          : say(`${what} is a record of names`, 'write name: value'),
    })
    .refine((all) => Object.keys(all).length <= MOST_NAMES, {
      error: say(`${what} has more than ${MOST_NAMES} names`, 'remove some'),
    });
export const list = <V extends z.ZodType>(
  what: string,
  value: V,
  example: string,
  most: number = MOST_NAMES,
): z.ZodArray<V> =>
  z
    .array(value, { error: say(`${what} is a list`, `write for example ${example}`) })
    .check(
      z.minLength(1, { error: say(`${what} is empty`, `write for example ${example}, or leave the key out`) }),
      z.maxLength(most, { error: say(`${what} has more than ${most} entries`, 'remove some') }),
    );

/** A time from now: whole seconds, minutes, hours or days, at most 366 days. */
export const duration: z.ZodString = z
  .string({ error: say('a duration is a text', 'write for example 15m, 8h or 30d') })
  .regex(DURATION, { error: say('this is not a duration', 'write a whole number and s, m, h or d, for example 15m') })
  .refine((given) => milliseconds(given) > 0 && milliseconds(given) <= LONGEST_MS, {
    error: say('the duration is 0 or longer than 366 days', 'write one between 1s and 366d'),
  });
/** Whether a day is in the calendar. `Date.parse` takes 30 February for 2 March. */
function isDate(given: string): boolean {
  const [year = 0, month = 0, day = 0] = given.slice(0, 10).split('-').map(Number);
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const longest = month === 2 ? (isLeap ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31;
  return day <= longest && !Number.isNaN(Date.parse(given));
}
export const date: z.ZodString = z
  .string({ error: say('until is a date', 'write for example 2027-01-31 or 2027-01-31T18:00:00Z') })
  .regex(/^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d)?(?:Z|[+-]\d\d:\d\d))?$/, {
    error: say('this is not a date', 'write for example 2027-01-31 or 2027-01-31T18:00:00Z'),
  })
  .refine(isDate, { error: say('there is no such date', 'write for example 2027-01-31') });
export const count: z.ZodNumber = z
  .int({ error: say('uses is a whole number', 'write for example uses: 5') })
  .min(1, { error: say('uses is less than 1', 'write at least 1, or remove the cap') })
  .max(1_000_000_000, { error: say('uses is more than 1,000,000,000', 'leave uses out for no limit') });

/** The word `own`, for things that a session made itself. */
export const own: z.ZodOptional<z.ZodBoolean> = z
  .boolean({ error: say('own is true or false', 'write true') })
  .optional();

/** The limits of a grant. All are optional; the strictest of several layers holds. */
export const terms: Readonly<{
  uses: z.ZodOptional<typeof count>;
  for: z.ZodOptional<typeof duration>;
  until: z.ZodOptional<typeof date>;
  needs: z.ZodOptional<z.ZodEnum<{ passkey: 'passkey' }>>;
  always_human: z.ZodOptional<z.ZodBoolean>;
  level: z.ZodOptional<z.ZodEnum<{ low: 'low'; medium: 'medium'; high: 'high' }>>;
  sensitivity: z.ZodOptional<z.ZodEnum<{ scratch: 'scratch'; ordinary: 'ordinary'; high: 'high' }>>;
}> = {
  uses: count.optional(),
  for: duration.optional(),
  until: date.optional(),
  needs: oneOf('needs', ['passkey']).optional(),
  always_human: z.boolean({ error: say('always_human is true or false', 'write true') }).optional(),
  level: oneOf('level', ['low', 'medium', 'high']).optional(),
  sensitivity: oneOf('sensitivity', ['scratch', 'ordinary', 'high']).optional(),
};
