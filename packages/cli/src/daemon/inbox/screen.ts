/**
 * The live list as rows of a screen.
 *
 * Promise: a card is shown whole: a line that is too long goes on in the next row, which begins with a mark that no
 * line of ours begins with. So text of an agent that fills a row cannot pass for a line of ours. No row is wider than
 * the screen, and there are no more rows than it has. A screen that is too small shows no card, so nothing on it can
 * be approved.
 */
import { card } from '@hob/host/client';
import { terminalLine } from '@hob/host/line';
import { shortId } from '../../line/ids.ts';
import { idText, namesLine } from '../names.ts';
import { choicesOf, chosenItem, type Dialog, type Item, isArmed, type Live } from './live.ts';

/** A screen, and what of the card is on it. */
interface Screen {
  readonly rows: readonly string[];
  /** The card is on it, in part at least. */
  readonly card: boolean;
  /** The end of the card is on it. */
  readonly end: boolean;
  /** How far the card is scrolled. */
  readonly scroll: number;
}

const LEAST = { rows: 10, columns: 40 } as const;
const FEWEST_OF_CARD = 3;
/** The beginning of a row that continues the one above. */
export const GOES_ON = '\\ ';

/** The rows for this state. */
export function screenOf(live: Live): Screen {
  const { size, items } = live;
  const none = { card: false, end: false, scroll: 0 };
  const small = { rows: ['make this terminal larger', 'Ctrl-C leaves'].slice(0, size.rows).map((row) => cutTo(row, size.columns)), ...none }; // biome-ignore format: one line
  if (size.rows < LEAST.rows || size.columns < LEAST.columns) return small;
  const item = chosenItem(live);
  const foot = footOf(live);
  const head = items.length === 0 ? 'no request waits' : items.length === 1 ? '1 request waits' : `${items.length} requests wait`; // biome-ignore format: one line
  const most = Math.max(1, Math.min(items.length, Math.floor(size.rows / 4)));
  const list = windowOf(live, most).map((each) => cutTo(rowOf(each, live), size.columns));
  const above = [cutTo(`hob inbox: ${head}`, size.columns), ...list, ''];
  const left = size.rows - above.length - foot.length;
  if (item === undefined) return { rows: [...above, ...foot].slice(0, size.rows), ...none };
  if (left < FEWEST_OF_CARD) return small;
  const own = namesLine([item.request.id, ...item.request.asker], live.names);
  const lines = card({ ...item.request, ageMs: Math.max(0, live.now - item.since), leftMs: leftOf(item, live.now) });
  const whole = [...lines, ...(own === undefined ? [] : [own])].flatMap((line) => wrapped(line.replaceAll(item.request.id, shortId('R', item.request.id)), size.columns)); // biome-ignore format: one line
  const fits = whole.length <= left;
  const height = fits ? left : left - 1;
  const scroll = Math.min(live.scroll, Math.max(0, whole.length - height));
  const end = scroll + height >= whole.length;
  const part = whole.slice(scroll, scroll + height);
  const more = fits ? [] : [cutTo(`--- rows ${scroll + 1} to ${scroll + part.length} of ${whole.length}${end ? '' : ': PageDown shows more'} ---`, size.columns)]; // biome-ignore format: one line
  return { rows: [...above, ...part, ...more, ...foot], card: true, end, scroll };
}

const leftOf = ({ deadline }: Item, now: number): number => Math.max(0, deadline - now);

/** The part of the list around the chosen request. */
function windowOf({ items, chosen }: Live, most: number): readonly Item[] {
  const at = Math.max(
    0,
    items.findIndex(({ request }) => request.id === chosen),
  );
  const from = Math.max(0, Math.min(items.length - most, at - Math.floor(most / 2)));
  return items.slice(from, from + most);
}

function rowOf(item: Item, { chosen, names, now }: Live): string {
  const { id, asker, effect, flags, waiting } = item.request;
  const mark = id === chosen ? '>' : ' ';
  const who = asker.map((each) => idText('S', each, names)).join('/');
  const beware = flags.length > 0 ? 'BEWARE ' : '';
  return `${mark} ${idText('R', id, names)}  ${countdown(leftOf(item, now))} left  ${who}  ${beware}it ${effect}${waiting ? '' : ' (not connected)'}`;
}

/** `59:58`, or `1:00:00`. */
function countdown(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  const two = (n: number): string => String(n).padStart(2, '0');
  const [h, m, s] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  return h > 0 ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`;
}

/** The answers, what was said last, and the keys. */
function footOf(live: Live): readonly string[] {
  const { dialog, size, message, chosen } = live;
  const keys = dialog?.typing !== undefined ? 'Enter: done   Esc: back' : dialog !== undefined ? 'left, right: choose an answer   Enter: give it   Esc: back' : chosen === undefined ? 'up, down: choose a request   q: leave' : 'Enter: answer   up, down: another one   PageDown: scroll   q: leave'; // biome-ignore format: one line
  const lines = [
    ...(dialog === undefined ? [] : dialogLines(live, dialog)),
    ...(message === '' ? [] : [message]),
    keys,
  ];
  return ['', ...lines.flatMap((line) => wrapped(line, size.columns))];
}

function dialogLines(live: Live, dialog: Dialog): readonly string[] {
  const name = shortId('R', live.chosen ?? '');
  const { typing } = dialog;
  if (typing !== undefined)
    return [typing.of === 'why' ? `why is ${name} refused? ${typing.text}_` : `uses, time, or both (5, 15m, 5 15m): ${typing.text}_`]; // biome-ignore format: one line
  const choices = choicesOf(live);
  const shown = choices.map(({ label }, n) => (n === dialog.at ? `[${label}]` : ` ${label} `)).join(' ');
  const choice = choices[dialog.at];
  const does =
    choice?.does === 'approve'
      ? `approve ${name}: ${choice.means}${isArmed(live) ? '' : live.seenEnd ? '   (in a moment)' : '   (first read the card to its end: PageDown)'}`
      : choice?.does === 'narrower'
        ? `approve ${name} on narrower terms, which you write`
        : `refuse ${name}`;
  return [shown, does];
}

/** Letters that may be two columns wide. Some of them are one: then a row is cut earlier than it had to be. */
const wide =
  /[\u1100-\u115f\u2329\u232a\u2600-\u27bf\u2b00-\u2bff\u2e80-\u{a4cf}\u{ac00}-\u{d7a3}\u{f900}-\u{faff}\u{fe10}-\u{fe6f}\u{ff00}-\u{ffe6}\u{16fe0}-\u{18fff}\u{1b000}-\u{1b2ff}\u{1f000}-\u{1ffff}\u{20000}-\u{3ffff}]/u;
const widthOf = (char: string): number => (/\p{M}/u.test(char) ? 0 : wide.test(char) ? 2 : 1);

/** One line as rows. */
export function wrapped(line: string, columns: number): readonly string[] {
  const rows: string[] = [];
  let row = '';
  let width = 0;
  for (const char of terminalLine(line)) {
    const more = widthOf(char);
    if (width + more > columns) {
      rows.push(row);
      row = GOES_ON;
      width = GOES_ON.length;
    }
    row += char;
    width += more;
  }
  return [...rows, row];
}

function cutTo(line: string, columns: number): string {
  const [first = '', second] = wrapped(line, columns);
  return second === undefined ? first : `${[...first].slice(0, -2).join('')}..`;
}
