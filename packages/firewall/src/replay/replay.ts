/**
 * What enforcing would have asked, read from a ledger that was written while the firewall observed.
 *
 * It reads the assessments that the lines have. It decides nothing, and looks at no arguments. A call whose hooks ran
 * has its last word in a line of its own (`assess`), and is counted there.
 */
import type { CallLevel } from '@hob/host';
import { wouldWait } from '../assess/decide.ts';

/** The result of a replay. Days are `YYYY-MM-DD` in UTC. */
export interface Replay {
  /** Lines that record a call with an assessment. */
  readonly calls: number;
  /** Calls without an assessment: they were made before there was a firewall. */
  readonly unassessed: number;
  /** Calls that would have waited for a person. */
  readonly asks: number;
  readonly byClass: Readonly<Record<string, Asked>>;
  readonly byDay: Readonly<Record<string, Asked>>;
  /** By the grant that was called. Those that ask most come first. */
  readonly byGrant: Readonly<Record<string, AskedOf>>;
}

/** Calls of one kind, and how many of them would have waited. */
export interface Asked {
  readonly calls: number;
  readonly asks: number;
}

/** The calls of one grant, with its cap and session if the ledger has the line of the grant. */
export interface AskedOf extends Asked {
  readonly petname?: string;
  readonly session?: string;
}

interface Line {
  readonly k: string;
  readonly t: number;
  readonly grant?: string;
  readonly petname?: string;
  readonly session?: string;
  readonly risk?: number;
  readonly sure?: number;
  readonly effect?: string;
  readonly crisis?: boolean;
  readonly level?: string;
  readonly hooked?: boolean;
}

/** Replays the lines of an exported ledger (JSON Lines). A line that is no JSON is skipped: `ledger verify` finds it. */
export async function replay(lines: AsyncIterable<string> | Iterable<string>): Promise<Replay> {
  const total = { calls: 0, asks: 0 };
  let unassessed = 0;
  const [byClass, byDay, byGrant] = [new Tally(), new Tally(), new Tally()];
  const grants = new Map<string, { readonly petname?: string; readonly session?: string }>();
  for await (const text of lines) {
    const line = lineIn(text);
    if (line === undefined) continue;
    const { risk, sure, effect = '?', grant = '?', t } = line;
    if (line.k === 'grant') grants.set(grant, about(line));
    if ((line.k !== 'call' && line.k !== 'assess') || line.hooked === true) continue;
    if (typeof risk !== 'number' || typeof sure !== 'number') {
      unassessed += 1;
      continue;
    }
    const asks = line.crisis === true || wouldWait(risk, sure, levelIn(line));
    total.calls += 1;
    if (asks) total.asks += 1;
    byClass.add(effect, asks);
    byDay.add(days.format(t), asks);
    byGrant.add(grant, asks);
  }
  const named = Object.entries(byGrant.rows()).map(([grant, row]) => [grant, { ...row, ...grants.get(grant) }] as const); // biome-ignore format: one line
  return { ...total, unassessed, byClass: byClass.rows(), byDay: byDay.rows(), byGrant: Object.fromEntries(named) };
}

const about = ({ petname, session }: Line): { readonly petname?: string; readonly session?: string } => ({
  ...(typeof petname === 'string' ? { petname } : {}),
  ...(typeof session === 'string' ? { session } : {}),
});

/** A line names the level of its grant only if it is not the usual one. */
const levelIn = ({ level }: Line): CallLevel => (level === 'low' || level === 'high' ? level : 'medium');

/** The day of a time in ms since 1970, in UTC. Swedish writes it as `YYYY-MM-DD`. */
const days = new Intl.DateTimeFormat('sv-SE', { timeZone: 'UTC', dateStyle: 'short' });

class Tally {
  readonly #rows = new Map<string, { calls: number; asks: number }>();

  add(key: string, asks: boolean): void {
    const row = this.#rows.get(key);
    if (row === undefined) this.#rows.set(key, { calls: 1, asks: asks ? 1 : 0 });
    else {
      row.calls += 1;
      if (asks) row.asks += 1;
    }
  }

  /** Those that ask most come first. */
  rows(): Readonly<Record<string, Asked>> {
    return Object.fromEntries([...this.#rows].sort(([, a], [, b]) => b.asks - a.asks || b.calls - a.calls));
  }
}

function lineIn(text: string): Line | undefined {
  try {
    const line = JSON.parse(text) as Partial<Line> | null;
    return typeof line?.k === 'string' && typeof line.t === 'number' ? (line as Line) : undefined;
  } catch {
    return undefined;
  }
}
