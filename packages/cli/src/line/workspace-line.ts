/** Reads the options of `hob workspace` for its session. It loads the directory cap: import it within `run` only. */
import { changingMethods, readingMethods } from '@hob/caps-fs';
import type { WorkspaceChoice } from '@hob/host/workspace';
import { durationOf } from './limits.ts';
import { Mistake } from './mistake.ts';
import { type Given, isGiven, textOf } from './verb.ts';

/** As long as a grant can last. */
const MOST_MINUTES = 90 * 24 * 60;
/** A misspelt one would leave calls free that should wait. */
const gateable: readonly string[] = [...changingMethods, ...readingMethods];

/** The flags of the session, with those that the person gave, and the port. Errors: `Mistake`. */
export function sessionOf(given: Given): Pick<WorkspaceChoice, 'flags' | 'given' | 'port'> {
  const { gate } = given.options;
  const [uses, time] = [textOf(given, 'uses'), textOf(given, 'for')];
  const flags = {
    uses: uses === undefined ? 1000 : numberOf('--uses', uses, 1, 1_000_000),
    minutes: time === undefined ? 60 : minutesOf(time),
    readOnly: isGiven(given, 'readOnly'),
    gate: typeof gate === 'string' ? gateOf(gate) : gate === true,
    code: isGiven(given, 'code'),
    shell: isGiven(given, 'shell'),
  };
  const options = { uses, minutes: time, readOnly: given.options['readOnly'], gate, code: given.options['code'], shell: given.options['shell'] }; // biome-ignore format: one line
  const names = (Object.keys(options) as (keyof typeof options)[]).filter((name) => options[name] !== undefined);
  return { flags, given: new Set(names), port: numberOf('--port', textOf(given, 'port') ?? '0', 0, 65_535) };
}

function numberOf(option: string, text: string, least: number, most: number): number {
  const number = /^\d{1,15}$/.test(text) ? Number(text) : -1;
  if (number < least || number > most) throw new Mistake(`${option} takes a whole number from ${least} to ${most}`, 2);
  return number;
}

function minutesOf(text: string): number {
  const minutes = /^\d+$/.test(text) ? Number(text) : durationOf('--for', text) / 60_000;
  if (minutes < 1 || minutes > MOST_MINUTES || !Number.isInteger(minutes))
    throw new Mistake('--for takes whole minutes up to 90 days: 15m, 8h, 30d', 2);
  return minutes;
}

function gateOf(text: string): readonly string[] {
  const names = text.split(',');
  const unknown = names.find((name) => name !== 'changes' && !gateable.includes(name));
  if (unknown !== undefined)
    throw new Mistake(`--gate takes "changes", or names of methods of a directory: ${gateable.join(',')}`, 2);
  return [...new Set(names.flatMap((name): readonly string[] => (name === 'changes' ? changingMethods : [name])))];
}
