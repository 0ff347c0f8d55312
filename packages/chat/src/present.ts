/**
 * A request as the message of a chat.
 *
 * Promise: a message that has a button for yes shows the whole request. A chat says once, some uses within 15
 * minutes, or no: nothing that lasts, and no more than was asked. What needs a passkey, what is for a person
 * alone and what lasts has no yes here.
 */
import type { Asked, Said } from './held.ts';

/** The answers that a chat may give. */
export type Choice = 'once' | 'few' | 'refuse';

/** A request in a chat. */
export interface ChatMessage {
  readonly text: string;
  /** The answers that it offers, each with its words and what it says to the host. */
  readonly choices: Readonly<Partial<Record<Choice, { readonly name: string; readonly said: Said }>>>;
}

const MINUTE = 60_000;
const SHORT_MS = 15 * MINUTE;
const FEW = 5;
/** A message of Telegram has at most 4,096. */
export const LONGEST: number = 3_600;

/** R7 for `q007-ab3d`. */
export const shortId = (id: string): string => {
  const digits = /^q(\d{3,15})-/.exec(id)?.[1];
  return digits === undefined ? id : `R${Number(digits)}`;
};

/** The message of a request. */
export function present(request: Asked): ChatMessage {
  const { id, digest } = request;
  const whole = textOf(request);
  const why = withoutYes(request, whole);
  const refuse = { name: 'Refuse', said: { digest, refuse: 'refused in a chat' } } as const;
  if (why === undefined) return { text: whole, choices: { ...yesOf(request), refuse } };
  const note = `\n\n${why} Answer ${shortId(id)} on the page that hob console opens, or with hob grant ${shortId(id)}.`;
  return { text: cut(whole, LONGEST - note.length) + note, choices: { refuse } };
}

/** Why a chat cannot say yes. */
function withoutYes({ needs, personOnly, terms }: Asked, whole: string): string | undefined {
  if (needs !== undefined) return 'A yes to this needs a passkey.';
  if (personOnly === true) return 'This is for a person at the host alone.';
  if (terms?.scope === 'permanent' || terms?.until !== undefined) return 'This asks for something that lasts.';
  // The host says where it has cut a text. Words of an agent that look like that get no yes either.
  return whole.length > LONGEST || whole.includes('⟦cut:') ? 'This is too long to be shown whole here.' : undefined;
}

function yesOf({ kind, digest, terms = {} }: Asked): ChatMessage['choices'] {
  if (kind === 'call') return { once: { name: 'Once', said: { digest, grant: {} } } };
  const time = { for: Math.min(terms.for ?? SHORT_MS, SHORT_MS) };
  const minutes = Math.ceil(time.for / MINUTE);
  const once = { name: `Once, within ${minutes} min`, said: { digest, grant: { uses: 1, ...time } } };
  const isFew = terms.scope !== 'once' && (terms.uses ?? FEW) >= FEW;
  return {
    once,
    ...(isFew ? { few: { name: `${FEW} uses, within ${minutes} min`, said: { digest, grant: { uses: FEW, ...time } } } } : {}), // biome-ignore format: one line
  };
}

function textOf({ id, asker, effect, table, diff, permits, flags, why, leftMs }: Asked): string {
  return [
    `${shortId(id)}: ${effect}`,
    ...flags.map((flag) => `Beware: ${flag}`),
    `asked by ${asker.join(' › ')}; it can be answered for ${Math.ceil(leftMs / MINUTE)} min`,
    '',
    ...table.map(([name, value]) => `${name}: ${value}`),
    ...(diff === undefined ? [] : ['', diff]),
    '',
    ...permits.map((line) => `A yes permits ${line}`),
    ...(why === '' ? [] : [why]),
  ].join('\n');
}

/** The head and the tail of a long text, and how much is between them. */
function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  const half = Math.floor((most - 60) / 2);
  const [head, tail] = [text.slice(0, half).toWellFormed(), text.slice(-half).toWellFormed()];
  return `${head}\n… ${text.length - 2 * half} characters are left out …\n${tail}`;
}
