/**
 * What enforcing would have asked, read from a ledger that was written while the firewall observed.
 *
 * It reads the assessments that the lines have. It decides nothing, and looks at no arguments.
 */
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
  /** By the grant that was called. */
  readonly byGrant: Readonly<Record<string, Asked>>;
}

/** Calls of one kind, and how many of them would have waited. */
export interface Asked {
  readonly calls: number;
  readonly asks: number;
}

interface CallLine {
  readonly k: 'call';
  readonly t: number;
  readonly grant?: string;
  readonly risk?: number;
  readonly sure?: number;
  readonly effect?: string;
  readonly crisis?: boolean;
}

/** Replays the lines of an exported ledger (JSON Lines). A line that is no JSON is skipped: `ledger verify` finds it. */
export async function replay(lines: AsyncIterable<string> | Iterable<string>): Promise<Replay> {
  const total = { calls: 0, asks: 0 };
  let unassessed = 0;
  const [byClass, byDay, byGrant] = [new Tally(), new Tally(), new Tally()];
  for await (const text of lines) {
    const line = callLine(text);
    if (line === undefined) continue;
    const { risk, sure, effect = '?', grant = '?', t } = line;
    if (risk === undefined || sure === undefined) {
      unassessed += 1;
      continue;
    }
    const asks = line.crisis === true || wouldWait(risk, sure, 'medium');
    total.calls += 1;
    if (asks) total.asks += 1;
    byClass.add(effect, asks);
    byDay.add(days.format(t), asks);
    byGrant.add(grant, asks);
  }
  return { ...total, unassessed, byClass: byClass.rows(), byDay: byDay.rows(), byGrant: byGrant.rows() };
}

/** The day of a time in ms since 1970, in UTC. Swedish writes it as `YYYY-MM-DD`. */
const days = new Intl.DateTimeFormat('sv-SE', { timeZone: 'UTC', dateStyle: 'short' });

class Tally {
  readonly #rows = new Map<string, { calls: number; asks: number }>();

  add(key: string, asks: boolean): void {
    const row = this.#rows.get(key) ?? { calls: 0, asks: 0 };
    this.#rows.set(key, { calls: row.calls + 1, asks: row.asks + (asks ? 1 : 0) });
  }

  /** Those that ask most come first. */
  rows(): Readonly<Record<string, Asked>> {
    return Object.fromEntries([...this.#rows].sort(([, a], [, b]) => b.asks - a.asks || b.calls - a.calls));
  }
}

function callLine(text: string): CallLine | undefined {
  try {
    const line = JSON.parse(text) as Partial<CallLine> | null;
    return line?.k === 'call' && typeof line.t === 'number' ? (line as CallLine) : undefined;
  } catch {
    return undefined;
  }
}
