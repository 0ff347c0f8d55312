/**
 * The bytes of a terminal as keys.
 *
 * Promise: text that was pasted is no key. An unknown sequence is dropped as a whole, so no part of it is taken for a
 * key. A sequence may come in two parts.
 */

/** A key with a name, or one typed character. */
export type Key =
  | { readonly name: KeyName }
  | {
      readonly char: string;
    };
export type KeyName =
  | 'up'
  | 'down'
  | 'left'
  | 'right'
  | 'pageUp'
  | 'pageDown'
  | 'home'
  | 'end'
  | 'enter'
  | 'escape'
  | 'backspace'
  | 'interrupt';

/** The rest of the input so far. */
interface KeyInput {
  /** The beginning of a sequence whose end has not come. */
  readonly rest: string;
  /** A paste has begun and not ended. */
  readonly pasting: boolean;
}

export const NO_INPUT: KeyInput = { rest: '', pasting: false };

const SEQUENCES: Readonly<Record<string, KeyName>> = {
  '[A': 'up',
  '[B': 'down',
  '[C': 'right',
  '[D': 'left',
  OA: 'up',
  OB: 'down',
  OC: 'right',
  OD: 'left',
  '[5~': 'pageUp',
  '[6~': 'pageDown',
  '[H': 'home',
  OH: 'home',
  '[1~': 'home',
  '[F': 'end',
  OF: 'end',
  '[4~': 'end',
  '[Z': 'left',
};
const CONTROLS: Readonly<Record<string, KeyName>> = {
  '\r': 'enter',
  '\n': 'enter',
  '\t': 'right',
  '\b': 'backspace',
  '\u007f': 'backspace',
  '\u0003': 'interrupt',
  '\u0004': 'interrupt',
};

const ESC = '\u001b';
const PASTE_ENDS = `${ESC}[201~`;
/** A sequence of a key is shorter. A longer one is junk. */
const LONGEST = 32;

/** The keys in `text`, which follows on what was left. */
export function keysIn({ rest, pasting }: KeyInput, text: string): readonly [keys: readonly Key[], left: KeyInput] {
  const keys: Key[] = [];
  let input = rest + text;
  let inPaste = pasting;
  while (input !== '') {
    if (inPaste) {
      const end = input.indexOf(PASTE_ENDS);
      // Its end may come in two parts.
      if (end < 0) return [keys, { rest: input.slice(-(PASTE_ENDS.length - 1)), pasting: true }];
      input = input.slice(end + PASTE_ENDS.length);
      inPaste = false;
    } else if (input.startsWith(ESC)) {
      const length = sequenceLength(input);
      if (length === undefined) return [keys, { rest: input, pasting: false }];
      const sequence = input.slice(1, length);
      const name = length === 1 ? 'escape' : Object.hasOwn(SEQUENCES, sequence) ? SEQUENCES[sequence] : undefined;
      if (name !== undefined) keys.push({ name });
      inPaste = sequence === '[200~';
      input = input.slice(length);
    } else {
      const char = String.fromCodePoint(input.codePointAt(0) as number);
      const name = CONTROLS[char];
      if (name !== undefined) keys.push({ name });
      else if (!/\p{C}/u.test(char)) keys.push({ char });
      input = input.slice(char.length);
    }
  }
  return [keys, { rest: '', pasting: inPaste }];
}

/** How long the sequence at the beginning is. Undefined: its end has not come. */
function sequenceLength(input: string): number | undefined {
  const after = input.slice(ESC.length);
  const whole = /^(?:\[[0-?]*[ -/]*[@-~]|O[@-~])/.exec(after);
  if (whole !== null) return ESC.length + whole[0].length;
  if (/^(?:\[[0-?]*[ -/]*|O)?$/.test(after)) return input.length > LONGEST ? input.length : undefined;
  // Alt and another key: no key of ours. Two escapes are two keys.
  return /^[^[O]/.test(after) && !after.startsWith(ESC) ? 2 : 1;
}

/** Time has passed: a single escape at the end was the key of that name. */
export const afterPause = (input: KeyInput): readonly [keys: readonly Key[], left: KeyInput] =>
  input.pasting || input.rest === '' ? [[], input] : [input.rest === ESC ? [{ name: 'escape' }] : [], NO_INPUT];
