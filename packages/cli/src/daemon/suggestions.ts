/**
 * Which caps of `ask` were granted so often that they may stand in `caps`.
 *
 * Promise: a suggestion has the name, the rights and the object of the manifest, and the strictest limits that a person
 * granted. Nothing of it was chosen by an agent. A cap that would not run without a question anyway is left.
 */
import { dirname } from 'node:path';
import {
  check,
  decisionsOf,
  type Manifest,
  type Move,
  milliseconds,
  movedText,
  type Plan,
  parse,
  type Surroundings,
} from '@hob/manifest';
import { petnameOf } from '../plan/names.ts';
import { type Again, grantedAgain, lastOffered } from './again.ts';
import type { LedgerLine } from './ledger-line.ts';

/** A cap to move, and the ledger lines of the answers. */
interface Suggested extends Move {
  readonly lines: readonly string[];
}

/** The text of the manifest with the suggestions, and the caps that stay in `ask`, with the reason. */
export interface Suggestions {
  readonly text: string;
  readonly moves: readonly Suggested[];
  readonly left: readonly { readonly cap: string; readonly why: string }[];
}

interface Governing {
  /** This machine, which the roots are looked for on. */
  readonly around: Surroundings;
  readonly file: string;
  readonly text: string;
  readonly plan: Plan;
}

/** `offers` are those of a running host, by the name of the cap. Without them the ledger says what was offered last. */
export function suggestions(
  governing: Governing,
  { lines, offers, from }: { readonly lines: readonly LedgerLine[]; readonly offers: Readonly<Record<string, string>> | undefined; readonly from: number }, // biome-ignore format: one line
): Suggestions {
  const { file, text, plan } = governing;
  const { manifest } = parse({ file, text });
  if (manifest === undefined) return { text, moves: [], left: [] };
  const counts = grantedAgain(lines);
  const moves: Suggested[] = [];
  const left: { cap: string; why: string }[] = [];
  let changed = text;
  for (const name of Object.keys(manifest.session?.ask ?? {})) {
    const offered = offers === undefined ? lastOffered(lines, petnameOf(name)) : offers[name];
    const again = offered === undefined ? undefined : counts.get(offered);
    if (again === undefined || again.lines.length < from) continue;
    const move = moveOf(name, again, manifest, plan);
    const so = 'why' in move ? move : tried({ ...governing, manifest }, [...moves, move]);
    if ('why' in so) left.push({ cap: name, why: so.why });
    else {
      moves.push(move as Suggested);
      changed = so.text;
    }
  }
  return { text: changed, moves, left };
}

function moveOf(name: string, again: Again, manifest: Manifest, plan: Plan): Suggested | { readonly why: string } {
  const cap = manifest.session?.ask?.[name];
  if (cap?.always_human === true || cap?.needs !== undefined) return { why: 'a person answers each time, as it says' };
  if (again.isPart) return { why: 'you granted some of its methods only: write a smaller cap by hand' };
  const uses = least(again.uses, cap?.uses);
  const time = timeOf(again.lastsMs, plan.deadlineMs, cap?.for);
  const based = again.lines.map((line) => `E${line}`);
  const shown = based.length > 12 ? [...based.slice(0, 6), '…', ...based.slice(-5)] : based;
  return {
    name,
    ...(uses === undefined ? {} : { uses }),
    ...(time === undefined ? {} : { for: time }),
    lines: based,
    note: `granted ${based.length} times: ${shown.join(' ')}`,
  };
}

const least = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined ? b : Math.min(a, b ?? a);

/** As long as a host grants anything: such a grant ended with its session. */
const LONGEST = 90 * 86_400_000 - 60_000;
const UNITS = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1000 } as const;

/** To the second: the ledger has the moment of the line, a little after that of the grant. */
function timeOf(
  lastsMs: number | undefined,
  deadlineMs: number | undefined,
  own: string | undefined,
): string | undefined {
  const most = Math.min(
    lastsMs ?? Number.POSITIVE_INFINITY,
    own === undefined ? Number.POSITIVE_INFINITY : milliseconds(own),
  );
  if (most >= (deadlineMs ?? LONGEST)) return own;
  const seconds = Math.max(1000, Math.round(most / 1000) * 1000);
  const unit = (['d', 'h', 'm', 's'] as const).find((one) => seconds % UNITS[one] === 0) ?? 's';
  return `${seconds / UNITS[unit]}${unit}`;
}

/** The text after the moves, if it compiles and the last of them runs without a question. */
function tried(
  { around, file, text, manifest, plan }: Governing & { readonly manifest: Manifest },
  moves: readonly Suggested[],
): { readonly text: string } | { readonly why: string } {
  const changed = movedText(text, manifest, moves);
  const { plan: after, mistakes } = check([{ layer: 'user', file, folder: dirname(file), text: changed }], around);
  const wrong = mistakes.find(({ severity }) => severity === 'error');
  if (after === undefined) return { why: `it cannot stand in caps: ${wrong?.wrong ?? 'it does not compile'}` };
  const cap = after.caps[moves.at(-1)?.name ?? ''];
  if (cap === undefined || !Object.values(decisionsOf(after, cap)).includes('runs'))
    return { why: `the mode ${plan.mode} asks for each of its calls, also in caps` };
  return { text: changed };
}
