/** The live list: what it approves, and when. The attackers are agents that file, change and withdraw requests. */
import type { Request } from '@hob/host';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anyCharacter } from '../../../../../test/any-character.ts';
import { volume } from '../../../../../test/depth.ts';
import { type KeyName, keysIn, NO_INPUT } from './keys.ts';
import { type Act, ARM_MS, begin, choicesOf, type Live, type LiveEvent, step, termsIn } from './live.ts';
import { GOES_ON, screenOf, wrapped } from './screen.ts';

const SIZE = { rows: 40, columns: 100 };
const T0 = 1_700_000_000_000;

function request(n: number, over: Partial<Request> = {}): Request {
  return {
    id: `q00${n}-abcd`,
    kind: 'grant',
    session: 'work-abcd1',
    asker: ['work-abcd1'],
    asks: 'edit',
    why: '',
    terms: { uses: 20, for: 3_600_000 },
    effect: `asks for “edit” ${n}`,
    table: [['what', '“edit”']],
    permits: ['write: writes and replaces files'],
    flags: [],
    digest: String.fromCharCode(96 + n).repeat(52),
    ageMs: 0,
    leftMs: 3_600_000,
    waiting: true,
    count: 1,
    proposals: [],
    ...over,
  };
}

/** A list that is driven as the driver does it: keys that come together are taken together, then the screen is drawn. */
class Played {
  live: Live;
  now = T0;
  readonly acts: Act[] = [];

  constructor(size = SIZE) {
    this.live = begin(size, T0);
    this.draw();
  }

  do(event: LiveEvent): Act | undefined {
    const { live, act } = step(this.live, event);
    this.live = live;
    if (act !== undefined && act.act !== 'ring') this.acts.push(act);
    return act;
  }

  draw(): void {
    const { card, end, scroll } = screenOf(this.live);
    this.do({ type: 'drawn', card, end, scroll });
  }

  requests(...requests: readonly Request[]): void {
    this.do({ type: 'requests', requests, now: this.now });
    this.draw();
  }

  /** In one read. */
  press(...names: readonly KeyName[]): void {
    for (const name of names) this.do({ type: 'key', key: { name }, now: this.now });
    this.draw();
  }

  type(text: string): void {
    for (const char of text) this.do({ type: 'key', key: { char }, now: this.now });
    this.draw();
  }

  wait(ms: number): void {
    for (let left = ms; left > 0; left -= 100) {
      this.now += Math.min(100, left);
      this.do({ type: 'tick', now: this.now });
      this.draw();
    }
  }

  /** One look at the clock, after the process was stopped. */
  stall(ms: number): void {
    this.now += ms;
    this.do({ type: 'tick', now: this.now });
  }
}

test('Enter without a chosen request does nothing; a dialog opens on refuse, so a second Enter refuses', () => {
  const played = new Played();
  played.press('enter');
  played.requests(request(1), request(2));
  played.wait(5000);
  played.press('enter');
  played.press('enter');
  expect([played.acts, played.live.chosen, played.live.dialog]).toEqual([[], undefined, undefined]);
  played.press('down');
  played.press('enter');
  expect(choicesOf(played.live).map(({ label }) => label)).toEqual(['refuse', 'refuse and say why', 'approve as asked', 'once', '15 minutes', 'narrower']); // biome-ignore format: one line
  played.press('enter');
  expect(played.acts).toEqual([{ act: 'refuse', id: 'q001-abcd', why: '' }]);
});

test('a yes counts 700 ms after the card appeared and not before, for the terms that were chosen', () => {
  const played = new Played();
  played.requests(request(1));
  played.press('down');
  played.wait(ARM_MS - 1);
  played.press('enter');
  for (const _ of [1, 2, 3]) played.press('right');
  played.press('enter');
  expect(played.acts).toEqual([]);
  expect(played.live.message).toMatch(/^nothing was approved: the card has only just appeared/);
  played.wait(1);
  played.press('enter');
  expect(played.acts).toEqual([{ act: 'approve', id: 'q001-abcd', digest: 'a'.repeat(52), terms: { uses: 1 } }]);
  // An answer on its way is not given twice.
  played.press('enter', 'enter');
  expect(played.acts.length).toBe(1);
});

/** A person who is about to approve request 1. */
function ready(played = new Played()): Played {
  played.requests(request(1), request(2));
  played.press('down');
  played.wait(1000);
  played.press('enter');
  played.press('right');
  played.press('right');
  return played;
}

test('a request that arrives when a key is pressed, before or after the chosen one, changes nothing about the choice', () => {
  const before = ready();
  before.requests(request(9), request(2), request(1));
  before.press('enter');
  expect(before.acts).toEqual([expect.objectContaining({ act: 'approve', id: 'q001-abcd' })]);
});

test('a request that changes, or is replaced by another one, takes the yes that was about to be typed with it', () => {
  for (const over of [
    { effect: 'removes all' },
    { digest: 'z'.repeat(52) },
    { why: 'please' },
    { count: 2 },
    { flags: ['it is hidden'] },
  ]) {
    const changed = ready();
    changed.requests(request(1, over), request(2));
    changed.press('enter', 'right', 'right', 'enter');
    expect(changed.acts, JSON.stringify(over)).toEqual([]);
    expect(changed.live.message).not.toMatch(/approved R1/);
  }
  const gone = ready();
  gone.requests(request(3), request(2));
  expect([gone.live.chosen, gone.live.message]).toEqual([undefined, 'R1 was answered elsewhere, or has ended']);
  gone.press('enter');
  expect(gone.acts).toEqual([]);
});

test('keys that were typed while the process was stopped approve nothing that appeared meanwhile', () => {
  const played = new Played();
  played.requests(request(1));
  played.press('down');
  played.stall(60_000);
  played.press('enter');
  played.press('right');
  played.press('right');
  played.press('enter');
  expect(played.acts).toEqual([]);
});

test('keys of one read cannot move to a yes and give it', () => {
  const played = new Played();
  played.requests(request(1));
  played.press('down');
  played.wait(2000);
  played.press('enter', 'right', 'right', 'enter');
  expect(played.acts).toEqual([]);
  played.press('enter');
  expect(played.acts.length).toBe(1);
});

test('a card that is longer than the screen is read to its end before a yes counts', () => {
  const played = new Played({ rows: 16, columns: 60 });
  const table = Array.from({ length: 60 }, (_, n) => [`argument ${n}`, `“${'x'.repeat(50)}”`] as const);
  played.requests(request(1, { table }));
  played.press('down');
  played.wait(5000);
  played.press('enter');
  played.press('right');
  played.press('right');
  played.press('enter');
  expect([played.acts, played.live.message]).toEqual([[], 'nothing was approved: read the card to its end first (PageDown)']); // biome-ignore format: one line
  for (let n = 0; n < 60; n += 1) played.press('pageDown');
  played.press('enter');
  expect(played.acts.length).toBe(1);
});

test('a screen that is too small shows no card and approves nothing', () => {
  const played = ready();
  played.do({ type: 'resized', size: { rows: 5, columns: 20 } });
  played.draw();
  played.wait(5000);
  played.press('enter');
  expect(played.acts).toEqual([]);
});

test('narrower terms are typed, shown and then given; wider ones are refused; Enter in the line approves nothing', () => {
  const played = ready();
  for (const _ of [1, 2, 3]) played.press('right');
  played.press('enter');
  played.type('5q 90x');
  played.press('enter');
  expect(played.live.message).toMatch(/^write a number of uses/);
  for (let n = 0; n < 9; n += 1) played.press('backspace');
  played.type('500');
  played.press('enter');
  expect(played.live.message).toMatch(/^that is wider than was asked/);
  for (let n = 0; n < 9; n += 1) played.press('backspace');
  played.type('5 10m');
  played.press('enter');
  expect(played.acts).toEqual([]);
  expect(screenOf(played.live).rows.join('\n')).toMatch(/approve R1: 5 calls, within 10 min/);
  played.press('enter');
  expect(played.acts).toEqual([expect.objectContaining({ act: 'approve', terms: { uses: 5, for: 600_000 } })]);
  expect([termsIn(''), termsIn('5 6'), termsIn('0'), termsIn('0m'), termsIn('1h 2')]).toEqual([undefined, undefined, undefined, undefined, { uses: 2, for: 3_600_000 }]); // biome-ignore format: one line
});

test('a call that waits can be approved as it is, and not on other terms', () => {
  const played = new Played();
  const { terms: _none, ...rest } = request(1, { kind: 'call' });
  played.requests(rest);
  played.press('down');
  played.press('enter');
  expect(choicesOf(played.live).map(({ does }) => does)).toEqual(['refuse', 'why', 'approve']);
});

const keyNames = ['up', 'down', 'left', 'right', 'enter', 'enter', 'escape', 'home', 'end', 'pageDown'] as const;
const aRequest = fc.record({ n: fc.integer({ min: 1, max: 3 }), effect: fc.constantFrom('one', 'two') });
const hostile = fc.oneof(
  fc.array(aRequest, { maxLength: 3 }).map((list) => ({ do: 'requests' as const, list })),
  fc.array(fc.constantFrom(...keyNames), { minLength: 1, maxLength: 3 }).map((keys) => ({ do: 'keys' as const, keys })),
  fc.integer({ min: 0, max: 5000 }).map((ms) => ({ do: 'stall' as const, ms })),
  fc.integer({ min: 0, max: 1500 }).map((ms) => ({ do: 'wait' as const, ms })),
);
const path = [
  { do: 'requests', list: [{ n: 1, effect: 'one' }] },
  { do: 'keys', keys: ['down'] },
  { do: 'wait', ms: 700 },
  { do: 'keys', keys: ['enter'] },
  { do: 'keys', keys: ['right'] },
  { do: 'keys', keys: ['right'] },
  { do: 'keys', keys: ['enter'] },
] as const;

test('whatever happens, only a request that is there is approved, and its card was drawn unchanged for 700 ms', () => {
  let approvals = 0;
  const between = fc.tuple(...path.map(() => fc.oneof({ weight: 5, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: fc.array(hostile, { maxLength: 2 }) }))); // biome-ignore format: one line
  fc.assert(
    fc.property(between, fc.array(hostile, { maxLength: 10 }), (spliced, rest) => {
      const played = new Played();
      /** Since when each card has been there unchanged and been the chosen one. */
      let since = { card: '', at: T0 };
      const cards = new Map<string, Request>();
      const watch = (): void => {
        const { chosen } = played.live;
        const card = chosen === undefined ? '' : `${chosen} ${cards.get(chosen)?.effect}`;
        if (card !== since.card) since = { card, at: played.now };
      };
      for (const event of [...path.flatMap((each, n) => [...(spliced[n] ?? []), each]), ...rest]) {
        const count = played.acts.length;
        if (event.do === 'requests') {
          cards.clear();
          for (const { n, effect } of event.list) cards.set(`q00${n}-abcd`, request(n, { effect }));
          played.requests(...cards.values());
        } else if (event.do === 'keys') played.press(...event.keys);
        else if (event.do === 'wait') played.wait(event.ms);
        else played.stall(event.ms);
        for (const act of played.acts.slice(count)) {
          if (act.act !== 'approve') continue;
          approvals += 1;
          expect(cards.get(act.id)?.digest).toBe(act.digest);
          expect(since.card).toBe(`${act.id} ${cards.get(act.id)?.effect}`);
          expect(played.now - since.at).toBeGreaterThanOrEqual(ARM_MS);
          played.do({ type: 'done', message: 'done' });
        }
        watch();
      }
    }),
    { numRuns: volume(100, 500) },
  );
  // The property speaks of something: the path itself approves.
  expect(approvals).toBeGreaterThan(0);
});

test('a sequence of keys is read the same in any parts, and pasted text is no key', () => {
  const typed = '\u001b[A\u001bOBq\r\u001b[5~x\u001b[200~\r\u001b[C\r\u001b[201~\u001b[1;5C\u001b[99zy\u0003';
  const [whole] = keysIn(NO_INPUT, typed);
  expect(whole).toEqual([{ name: 'up' }, { name: 'down' }, { char: 'q' }, { name: 'enter' }, { name: 'pageUp' }, { char: 'x' }, { char: 'y' }, { name: 'interrupt' }]); // biome-ignore format: one line
  fc.assert(
    fc.property(fc.array(fc.nat(typed.length)), (cuts) => {
      let input = NO_INPUT;
      const keys = [];
      let at = 0;
      for (const to of [...cuts.sort((a, b) => a - b), typed.length]) {
        const [found, left] = keysIn(input, typed.slice(at, to));
        keys.push(...found);
        input = left;
        at = to;
      }
      expect(keys).toEqual(whole);
    }),
  );
});

test('for any texts and any size, the rows fit the screen, and a row that goes on is marked', () => {
  const anyText = fc.string({ unit: anyCharacter, maxLength: 300 });
  fc.assert(
    fc.property(
      anyText,
      anyText,
      fc.integer({ min: 1, max: 60 }),
      fc.integer({ min: 4, max: 120 }),
      (effect, value, rows, columns) => {
        const played = new Played({ rows, columns });
        played.requests(request(1, { effect, table: [['path', value]], why: value, flags: [value] }));
        for (const press of ['down', 'enter', 'right', 'right'] as const) played.press(press);
        const screen = screenOf(played.live);
        expect(screen.rows.length).toBeLessThanOrEqual(rows);
        for (const row of screen.rows) expect(row.replaceAll(/\p{M}/gu, '').length).toBeLessThanOrEqual(columns);
      },
    ),
  );
  const [first, ...others] = wrapped(`  it writes “${' '.repeat(200)}  a yes permits: nothing”`, 80);
  expect(first?.startsWith('  it writes')).toBe(true);
  for (const row of others) expect(row.startsWith(GOES_ON)).toBe(true);
});
