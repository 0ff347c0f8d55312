/** The grants that count as given again and again. An agent chooses names and texts, and decides nothing. */
import { expect, test } from 'vitest';
import { grantedAgain, lastOffered } from './again.ts';
import type { LedgerLine } from './ledger-line.ts';

type Fields = Readonly<Record<string, unknown>>;
const numbered = (lines: readonly (Fields & { readonly k: string })[]): readonly LedgerLine[] =>
  lines.map((line, n) => ({ seq: n + 1, t: 1000, ...line }));
const facet = {
  k: 'grant',
  grant: 'g1',
  session: 's',
  petname: 'edit',
  offered: 'fs-a',
  by: 'owner',
  surface: 'program',
};
/** A request for the facet, and its answer. */
const yes = (n: number, more: Fields = {}): readonly (Fields & { readonly k: string })[] => [
  { k: 'request', request: `q${n}`, session: 's', asks: 'edit' },
  { k: 'grant', grant: `l${n}`, session: 's', petname: 'edit', offered: 'fs-a', request: `q${n}`, parent: 'g1', uses: 9 - n, until: 61_000 + n, by: 'owner', surface: 'socket', ...more }, // biome-ignore format: one line
  { k: 'approve', request: `q${n}`, session: 's', grant: `l${n}`, by: 'owner', surface: 'socket' },
];
const countOf = (...lines: readonly (readonly (Fields & { readonly k: string })[])[]): number =>
  grantedAgain(numbered([facet, ...lines.flat()])).get('fs-a')?.lines.length ?? 0;

test('each yes counts with its line, and the strictest limits hold', () => {
  const again = grantedAgain(numbered([facet, ...yes(1), ...yes(2), ...yes(3)])).get('fs-a');
  expect(again).toEqual({ lines: [4, 7, 10], uses: 6, lastsMs: 60_001, isPart: false });
  expect(grantedAgain(numbered([facet, ...yes(1, { methods: ['list'] })])).get('fs-a')?.isPart).toBe(true);
});

test('a refusal or a revocation of the granter begins anew, and a narrowed grant does not count; the end of a host says nothing', () => {
  const no = [{ k: 'request', request: 'q8', session: 's', asks: 'edit' }, { k: 'deny', request: 'q8', session: 's', by: 'owner', surface: 'socket' }]; // biome-ignore format: one line
  expect(countOf(yes(1), yes(2), no, yes(3))).toBe(1);
  const ended = (surface: string) => [{ k: 'revoke', grant: 'l1', by: 'x', surface }];
  expect(countOf(yes(1), yes(2), ended('socket'), yes(3))).toBe(1);
  expect(countOf(yes(1), yes(2), ended('process'), ended('program'), yes(3))).toBe(3);
  expect(countOf(yes(1), yes(2), [{ k: 'narrow', grant: 'l1', by: 'owner', surface: 'socket' }], yes(3))).toBe(2);
});

test('an agent that asks for another offer under the same name, or has single calls approved, makes nothing count for it', () => {
  // Asked for by its own name, and granted under the name of the cap, in another session.
  const other = yes(4, { offered: 'fs-b', session: 't', parent: undefined });
  expect(countOf(yes(1), other)).toBe(1);
  const call = [
    { k: 'request', request: 'q5', session: 's', grant: 'g1', method: 'remove' },
    { k: 'approve', request: 'q5', session: 's', grant: 'g1', by: 'owner', surface: 'socket' },
  ];
  expect(countOf(yes(1), call, call)).toBe(1);
  // A cap that was delegated or asked for under the name of another is not what a session is opened with.
  const delegated = { ...facet, grant: 'g9', offered: 'fs-evil', parent: 'g1', surface: undefined };
  expect(lastOffered(numbered([facet, delegated, ...other]), 'edit')).toBe('fs-a');
  expect(lastOffered(numbered([facet, { ...facet, grant: 'g7', offered: 'fs-new' }]), 'edit')).toBe('fs-new');
  expect(lastOffered(numbered([facet]), 'src')).toBeUndefined();
});
