/** One cell of the attack: so many attempts against one victim, with the attacker at work all the while. */
import path from 'node:path';
import { openFsCap } from '../src/index.ts';
import type { Backend } from '../test/backends.ts';
import { hostIn } from '../test/escapes/judge.ts';
import { attack, LANES, makeArena } from './arena.ts';
import { type Cell, isOutside } from './cell.ts';
import { Naive } from './naive.ts';

export type Victim = Backend | 'realpath-then-open';

export interface Result {
  readonly cell: string;
  readonly victim: Victim;
  /**
   * Resolutions of a name that is swapped. Each call is one, or as many as there are names in its result.
   */
  readonly attempts: number;
  readonly calls: number;
  /** Attempts that met what is inside. */
  readonly through: number;
  readonly escapes: number;
  /** How often the attacker changed what is there. */
  readonly swaps: number;
  readonly seconds: number;
  /** `ok` and codes, each with how often. */
  readonly outcomes: ReadonlyMap<string, number>;
}

export interface Terms {
  readonly program: string;
  readonly core: number;
  readonly attempts: number;
  /** The control may end when it has proved its point. */
  readonly untilEscape?: boolean;
}

/**
 * The number of attempts of each lane between two looks at the outside. A change of the outside stays until the
 * look: no attempt undoes that of another, and only the inside is mended, by a descriptor. (A look after each
 * attempt took nine tenths of the time.)
 */
const ROUND = 64;

export async function race(cell: Cell, victim: Victim, terms: Terms): Promise<Result> {
  using arena = makeArena(cell.things, cell.doors);
  const began = performance.now();
  const outcomes = new Map<string, number>();
  const texts = new Set<string>();
  const wanted = terms.attempts;
  const met = cell.met ?? 1;
  let attempts = 0;
  let calls = 0;
  let through = 0;
  let escapes = 0;
  const cap = victim === 'realpath-then-open' ? undefined : await openFsCap(arena.root, { backend: victim });
  const naive = new Naive(arena.root);
  // The control is looked at after each, since there each escape counts.
  const round = cap ? Math.min(ROUND, Math.ceil(wanted / LANES / met)) : 1;
  const one = async (lane: number): Promise<void> => {
    calls += 1;
    let outcome = 'ok';
    try {
      const given = await (cap ? cell.cap(cap, lane, arena) : cell.control(naive, lane));
      if (isOutside(given)) escapes += 1;
      attempts += met;
      through += cell.through?.(given) ?? met;
    } catch (error) {
      attempts += 1;
      outcome = (error as { code?: string }).code ?? (error as Error).message;
      const { message } = error as Error;
      // The texts are few: each is searched once for what it may tell of the host.
      if (cap && !texts.has(message)) escapes += hostIn(error, { top: path.dirname(arena.root) }).length;
      texts.add(message);
    }
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    if (outcome !== 'ok' || cell.mend === undefined) return;
    try {
      cell.mend(arena, lane);
    } catch {
      // It came through somewhere else: outside, which is looked at now, or another lane was in its way.
      escapes += arena.escapes();
    }
  };
  const lanes = async (lane: number): Promise<void> => {
    for (let i = 0; i < round; i++) await one(lane);
  };
  arena.prepare();
  const attacker = await attack(terms.program, terms.core, arena, cell.swap);
  let swaps = 0;
  try {
    while (attempts < wanted && !(terms.untilEscape === true && escapes > 0)) {
      await Promise.all(Array.from({ length: LANES }, (_, lane) => lanes(lane)));
      escapes += arena.escapes();
      arena.prepare();
    }
  } finally {
    swaps = await attacker.stop();
    await cap?.close();
  }
  const seconds = (performance.now() - began) / 1000;
  return { cell: cell.name, victim, attempts, calls, through, escapes, swaps, seconds, outcomes };
}
