/**
 * The live list of requests: (state, event) -> state, and at most one act.
 *
 * Promise: nothing is approved but the request whose card was on the screen, whole and unchanged, for 700 ms, and only
 * by a key that was typed after the screen showed the choice. The choice stays with the id of a request, wherever it
 * moves in the list; when that request ends, nothing is chosen. A dialog opens on “refuse”, and Enter without a chosen
 * request does nothing.
 */
import type { GrantTerms, Request } from '@hob/host';
import { approvalText } from '@hob/host/answers';
import { durationPattern, milliseconds } from '@hob/manifest/duration';
import { shortId } from '../../line/ids.ts';
import type { Names } from '../names.ts';
import type { Key } from './keys.ts';

/** How long a card is on the screen before it can be approved. */
export const ARM_MS = 700;
/**
 * How much of that time one look at the clock may count. A process that was stopped for a minute reads what was typed
 * meanwhile after its next look: that time was not seen by anybody.
 */
const MOST_AT_ONCE = 150;
const LONGEST_TYPED = 200;

/** A request in the list. Times are in ms of the clock that the events carry. */
export interface Item {
  readonly request: Request;
  readonly since: number;
  readonly deadline: number;
}

export interface Size {
  readonly rows: number;
  readonly columns: number;
}

/** A text that is typed in a line of its own. */
interface Typing {
  readonly of: 'why' | 'terms';
  readonly text: string;
}

/** The answers to the chosen request. */
export interface Dialog {
  readonly at: number;
  readonly typing?: Typing;
  /** Terms that were typed. */
  readonly own?: GrantTerms;
}

export interface Live {
  readonly items: readonly Item[];
  /** The granter's own names. */
  readonly names: Names;
  /** The id of a request. */
  readonly chosen?: string;
  readonly dialog?: Dialog;
  /** How far the card is scrolled. */
  readonly scroll: number;
  /** How long the card of the chosen request has been on the screen. */
  readonly shownMs: number;
  /** The end of the card was on the screen. */
  readonly seenEnd: boolean;
  /** The screen shows this state. */
  readonly drawn: boolean;
  /** An answer is on its way. */
  readonly busy: boolean;
  /** The request that was answered here last. */
  readonly answered?: string;
  readonly message: string;
  readonly size: Size;
  readonly now: number;
}

export type LiveEvent =
  | { readonly type: 'requests'; readonly requests: readonly Request[]; readonly names?: Names; readonly now: number }
  | { readonly type: 'key'; readonly key: Key; readonly now: number }
  | { readonly type: 'tick'; readonly now: number }
  | { readonly type: 'drawn'; readonly card: boolean; readonly end: boolean; readonly scroll: number }
  | { readonly type: 'resized'; readonly size: Size }
  | { readonly type: 'done'; readonly message: string };

export type Act =
  | { readonly act: 'approve'; readonly id: string; readonly digest: string; readonly terms: GrantTerms }
  | { readonly act: 'refuse'; readonly id: string; readonly why: string }
  | { readonly act: 'quit' }
  | { readonly act: 'ring' };

export interface Step {
  readonly live: Live;
  readonly act?: Act;
}

export const begin = (size: Size, now: number): Live => ({
  items: [],
  names: new Map(),
  scroll: 0,
  shownMs: 0,
  seenEnd: false,
  drawn: false,
  busy: false,
  message: '',
  size,
  now,
});

export const chosenItem = ({ items, chosen }: Live): Item | undefined =>
  items.find(({ request }) => request.id === chosen);

/** Whether the chosen request can be approved by now. */
export const isArmed = ({ shownMs, seenEnd }: Live): boolean => shownMs >= ARM_MS && seenEnd;

/** One way to answer. */
interface Choice {
  readonly label: string;
  /** The terms, in words, for a yes. */
  readonly means?: string;
  readonly does: 'refuse' | 'why' | 'approve' | 'narrower';
  readonly terms?: GrantTerms;
}

/** The ways to answer the chosen request, “refuse” first. A yes that would be wider than was asked is not among them. */
export function choicesOf(live: Live): readonly Choice[] {
  const item = chosenItem(live);
  if (item === undefined) return [];
  const no: readonly Choice[] = [
    { label: 'refuse', does: 'refuse' },
    { label: 'refuse and say why', does: 'why' },
  ];
  if (item.request.kind === 'call') return [...no, { label: 'approve this call', means: 'this one call', does: 'approve', terms: {} }]; // biome-ignore format: one line
  const yes = (label: string, terms: GrantTerms): readonly Choice[] => {
    const means = approvalText(item.request, terms, live.now);
    return means === undefined ? [] : [{ label, means, does: 'approve', terms }];
  };
  const own = live.dialog?.own;
  return [
    ...no,
    ...yes('approve as asked', {}),
    ...yes('once', { uses: 1 }),
    ...yes('15 minutes', { for: 900_000 }),
    { label: 'narrower', does: 'narrower' },
    ...(own === undefined ? [] : yes('approve on your terms', own)),
  ];
}

/** The next state. */
export function step(live: Live, event: LiveEvent): Step {
  switch (event.type) {
    case 'requests':
      return withRequests({ ...live, names: event.names ?? live.names }, event.requests, event.now);
    case 'key':
      return withKey({ ...live, now: event.now }, event.key);
    case 'tick': {
      const past = Math.min(MOST_AT_ONCE, Math.max(0, event.now - live.now));
      const isSeen = live.drawn && live.chosen !== undefined;
      return { live: { ...live, now: event.now, shownMs: isSeen ? live.shownMs + past : live.shownMs } };
    }
    case 'drawn':
      return {
        live: {
          ...live,
          drawn: true,
          scroll: event.scroll,
          // A screen that is too small shows no card.
          shownMs: event.card ? live.shownMs : 0,
          seenEnd: event.card && (live.seenEnd || event.end),
        },
      };
    case 'resized':
      return { live: { ...live, size: event.size, drawn: false } };
    case 'done':
      return { live: { ...live, busy: false, message: event.message, drawn: false } };
  }
}

/** The text of a card without its times, which change by themselves. */
const cardText = ({ ageMs: _age, leftMs: _left, ...rest }: Request): string => JSON.stringify(rest);

function withRequests(live: Live, requests: readonly Request[], now: number): Step {
  const items = requests.map((request) => ({ request, since: now - request.ageMs, deadline: now + request.leftMs }));
  const before = new Map(live.items.map(({ request }) => [request.id, request]));
  const isNew = requests.some(({ id }) => !before.has(id));
  const next: Live = { ...live, items };
  const ring: { readonly act?: Act } = isNew ? { act: { act: 'ring' } } : {};
  if (live.chosen === undefined) return { live: next, ...ring };
  const [was, is] = [before.get(live.chosen), requests.find(({ id }) => id === live.chosen)];
  if (is === undefined) {
    const isOurs = live.answered === live.chosen;
    const message = isOurs ? live.message : `${shortId('R', live.chosen)} was answered elsewhere, or has ended`;
    return { live: { ...choose(next, undefined), message }, ...ring };
  }
  if (was !== undefined && cardText(was) === cardText(is)) return { live: next, ...ring };
  return { live: { ...choose(next, live.chosen), message: `${shortId('R', live.chosen)} has changed: read it again` }, ...ring }; // biome-ignore format: one line
}

/** Another card is shown, or this one anew. */
function choose({ dialog: _closed, chosen: _before, ...rest }: Live, chosen: string | undefined): Live {
  const shown = { ...rest, scroll: 0, shownMs: 0, seenEnd: false, drawn: false, message: '' };
  return chosen === undefined ? shown : { ...shown, chosen };
}

function withKey(live: Live, key: Key): Step {
  const name = 'name' in key ? key.name : undefined;
  if (name === 'interrupt') return { live, act: { act: 'quit' } };
  if (live.busy) return { live };
  if (live.dialog?.typing !== undefined) return typed(live, live.dialog, live.dialog.typing, key);
  if ('char' in key && key.char === 'q') return { live, act: { act: 'quit' } };
  if (name === undefined) return { live };
  const scrolled = scrolledBy(live, name);
  if (scrolled !== undefined) return { live: { ...live, scroll: scrolled, drawn: false } };
  return live.dialog === undefined ? inList(live, name) : inDialog(live, live.dialog, name);
}

/** The screen cuts it to the length of the card. */
function scrolledBy({ scroll, size }: Live, name: string): number | undefined {
  const page = Math.max(1, Math.floor(size.rows / 3));
  if (name === 'pageDown') return scroll + page;
  if (name === 'pageUp') return Math.max(0, scroll - page);
  if (name === 'home') return 0;
  return name === 'end' ? Number.MAX_SAFE_INTEGER : undefined;
}

function inList(live: Live, name: string): Step {
  const { items, chosen } = live;
  const at = items.findIndex(({ request }) => request.id === chosen);
  if (name === 'up' || name === 'down') {
    const to = at < 0 ? (name === 'down' ? 0 : items.length - 1) : at + (name === 'down' ? 1 : -1);
    const id = items[Math.min(items.length - 1, Math.max(0, to))]?.request.id;
    return { live: id === chosen ? live : choose(live, id) };
  }
  if (name === 'escape') return { live: choose(live, undefined) };
  if (name !== 'enter') return { live };
  if (at < 0) return { live: { ...live, message: 'no request is chosen: choose one with the arrow keys', drawn: false } }; // biome-ignore format: one line
  return { live: { ...live, dialog: { at: 0 }, message: '', drawn: false } };
}

function inDialog(live: Live, dialog: Dialog, name: string): Step {
  const choices = choicesOf(live);
  const move = (by: number): Step => {
    const at = Math.min(choices.length - 1, Math.max(0, dialog.at + by));
    return { live: { ...live, dialog: { ...dialog, at }, message: '', drawn: false } };
  };
  if (name === 'left' || name === 'up') return move(-1);
  if (name === 'right' || name === 'down') return move(1);
  if (name === 'escape') return { live: closed(live) };
  if (name !== 'enter') return { live };
  const [choice, item] = [choices[dialog.at], chosenItem(live)];
  if (choice === undefined || item === undefined) return { live: closed(live) };
  if (choice.does === 'why' || choice.does === 'narrower')
    return { live: { ...live, dialog: { ...dialog, typing: { of: choice.does === 'why' ? 'why' : 'terms', text: '' } }, message: '', drawn: false } }; // biome-ignore format: one line
  if (choice.does === 'refuse') return answered(live, { act: 'refuse', id: item.request.id, why: '' });
  // A key of the same moment as the choice, or of the time before the card, was not meant for it.
  if (!live.drawn) return { live };
  if (!isArmed(live)) return { live: { ...live, message: whyNotArmed(live), drawn: false } };
  const { id, digest } = item.request;
  return answered(live, { act: 'approve', id, digest, terms: choice.terms ?? {} });
}

const whyNotArmed = ({ seenEnd }: Live): string =>
  seenEnd
    ? 'nothing was approved: the card has only just appeared; press Enter again'
    : 'nothing was approved: read the card to its end first (PageDown)';

const closed = ({ dialog: _gone, ...rest }: Live): Live => ({ ...rest, message: '', drawn: false });
const answered = (live: Live, act: Exclude<Act, { readonly act: 'quit' | 'ring' }>): Step => ({
  live: { ...closed(live), busy: true, answered: act.id, message: '…' },
  act,
});

/** A key in the line that is typed. Its Enter never approves: typed terms become a choice of the dialog. */
function typed(live: Live, { typing: _before, ...dialog }: Dialog, typing: Typing, key: Key): Step {
  const keep = (text: string): Step => ({ live: { ...live, dialog: { ...dialog, typing: { ...typing, text } }, drawn: false } }); // biome-ignore format: one line
  if ('char' in key) return keep(`${typing.text}${key.char}`.slice(0, LONGEST_TYPED));
  if (key.name === 'backspace') return keep([...typing.text].slice(0, -1).join(''));
  const open: Live = { ...live, dialog, message: '', drawn: false };
  if (key.name === 'escape') return { live: open };
  if (key.name !== 'enter') return { live };
  const item = chosenItem(live);
  if (item === undefined) return { live: closed(live) };
  if (typing.of === 'why') return answered(live, { act: 'refuse', id: item.request.id, why: typing.text.trim() });
  const own = termsIn(typing.text);
  if (own === undefined) return { live: { ...keep(typing.text).live, message: 'write a number of uses, a time, or both: 5, 15m, 5 15m' } }; // biome-ignore format: one line
  if (approvalText(item.request, own, live.now) === undefined) return { live: { ...keep(typing.text).live, message: 'that is wider than was asked: write less' } }; // biome-ignore format: one line
  const withOwn: Live = { ...open, dialog: { ...dialog, own } };
  return { live: { ...withOwn, dialog: { ...dialog, own, at: choicesOf(withOwn).length - 1 } } };
}

/** `5`, `15m` or `5 15m`. */
export function termsIn(text: string): GrantTerms | undefined {
  const words = text.trim().split(/\s+/);
  const uses = words.filter((word) => /^[1-9]\d{0,8}$/.test(word));
  const times = words.filter((word) => durationPattern.test(word) && milliseconds(word) > 0);
  if (words.length === 0 || uses.length > 1 || times.length > 1 || uses.length + times.length !== words.length) return undefined; // biome-ignore format: one line
  return {
    ...(uses[0] === undefined ? {} : { uses: Number(uses[0]) }),
    ...(times[0] === undefined ? {} : { for: milliseconds(times[0]) }),
  };
}
