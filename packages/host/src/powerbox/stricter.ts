/**
 * The terms of an approval: what was asked, or less.
 *
 * Promise: the grant never has more than was asked, and never more than the approval says. Each term is the
 * stricter of the two. A term of the approval that is wider than what was asked is refused with `invalid`,
 * and the message names what was asked.
 */
import { type Bounds, boundText, defaultTerm, longestTerm, narrowerBound, readBounds } from '@hob/revocable';
import { CapError } from '@hob/vat';
import { callLevels, type GrantTerms } from '../state/terms.ts';
import { safeText } from '../text/safe-text.ts';
import { termTime } from './display.ts';

function wider(term: string, asked: string): never {
  throw new CapError('invalid', `an approval can only be narrower than the request: ${term} was asked as ${asked}`);
}

/**
 * The terms of a grant that was asked on `asked` and approved on `said`, at `wall` ms since 1970. Both were
 * read before. Errors: `invalid`.
 */
export function stricter(asked: GrantTerms, said: GrantTerms, wall: number): GrantTerms {
  const uses = strictUses(asked, said);
  const audited = isAudited(asked) || isAudited(said);
  if (said.audited === false && isAudited(asked)) wider('audited', 'true');
  if (said.mount === true && asked.mount !== true) wider('mount', 'false');
  const gated = bothGated(asked.gated, said.gated);
  const level = lowerLevel(asked.level, said.level);
  return {
    ...(uses === undefined ? {} : { uses }),
    ...strictTime(asked, said, wall),
    ...strictCalls(asked, said),
    ...(audited ? { audited } : {}),
    ...(asked.mount === true && said.mount === true ? { mount: true } : {}),
    ...(gated === undefined ? {} : { gated }),
    ...(level === undefined ? {} : { level }),
    ...(asked.personOnly === true || said.personOnly === true ? { personOnly: true } : {}),
    ...draftsOf(asked.drafts, said.drafts, gated),
    ...strictMade(asked.made, said.made, wall),
  };
}

/** Without `made`, the objects that a call makes share the uses and the time of the grant. That is stricter. */
function strictMade(asked: GrantTerms['made'], said: GrantTerms['made'], wall: number): Pick<GrantTerms, 'made'> {
  if (said === undefined) return {};
  if (asked === undefined) return wider('made', 'left out');
  const { uses, for: ms, until, methods, where, audited, scope } = stricter(asked, said, wall);
  const made = { uses, for: scope === undefined ? ms : longestTerm, until, methods, where, audited };
  return { made: Object.fromEntries(Object.entries(made).filter(([, value]) => value !== undefined)) };
}

/** A call that one of the two keeps as a draft stays a draft, unless it waits anyway. */
function draftsOf(
  asked: GrantTerms['drafts'],
  said: GrantTerms['drafts'],
  gated: GrantTerms['gated'],
): Pick<GrantTerms, 'drafts'> {
  const drafts = [...new Set([...(asked ?? []), ...(said ?? [])])];
  return drafts.length === 0 || gated === true ? {} : { drafts };
}

/**
 * For a face that shows requests: `said`, completed by what was asked. An approval is a whole record of
 * terms, so that one without a time would mean 15 minutes; a person who only says "once" means the time that
 * was asked.
 */
export function completed(asked: GrantTerms, said: GrantTerms): GrantTerms {
  const { scope, ...rest } = said;
  const terms: GrantTerms = scope === 'once' ? { uses: 1, ...rest } : said;
  return {
    ...(saysTime(terms) ? {} : timeOf(asked)),
    ...(asked.mount === true ? { mount: true } : {}),
    ...(asked.made === undefined ? {} : { made: asked.made }),
    ...terms,
  };
}

const saysTime = ({ for: ms, until, scope }: GrantTerms): boolean =>
  ms !== undefined || until !== undefined || scope === 'session' || scope === 'permanent';

function timeOf({ for: ms, until, scope, uses }: GrantTerms): GrantTerms {
  if (ms !== undefined) return { for: ms };
  if (until !== undefined) return { until };
  if (scope === 'permanent') return { scope };
  return scope !== undefined || uses !== undefined ? { scope: 'session' } : {};
}

const usesOf = ({ scope, uses }: GrantTerms): number | undefined => (scope === 'once' ? 1 : uses);
const isAudited = ({ scope, audited }: GrantTerms): boolean => scope === 'permanent' || audited === true;

function strictUses(asked: GrantTerms, said: GrantTerms): number | undefined {
  const [most, uses] = [usesOf(asked), usesOf(said)];
  if (most === undefined || uses === undefined) return most ?? uses;
  if (uses > most) wider('uses', String(most));
  return uses;
}

/** How long a grant on these terms lasts, and whether it outlives a boot of the machine. */
function lasts(
  given: GrantTerms,
  wall: number,
): { readonly until: number; readonly ms: number; readonly lasting: boolean } {
  const { for: ms, until, scope, uses } = given;
  if (until !== undefined) return { until, ms: until - wall, lasting: true };
  const term = ms ?? (scope !== undefined || uses !== undefined ? longestTerm : defaultTerm);
  return { until: wall + term, ms: term, lasting: scope === 'permanent' };
}

function strictTime(asked: GrantTerms, said: GrantTerms, wall: number): GrantTerms {
  const [most, mine] = [lasts(asked, wall), lasts(said, wall)];
  if (most.ms <= 0)
    throw new CapError(
      'invalid',
      'the date until which the agent asked for it has passed: refuse the request, so that the agent asks again',
    );
  if (mine.ms <= 0) throw new CapError('invalid', 'that date has passed: give a later one');
  const outlives = said.scope === 'permanent' && !most.lasting;
  if (saysTime(said) && (mine.ms > most.ms || outlives)) wider('its time', termTime(asked, wall));
  if (most.lasting && mine.lasting) return { until: Math.min(most.until, mine.until) };
  const ms = Math.min(most.ms, mine.ms);
  return ms === longestTerm ? { scope: 'session' } : { for: ms };
}

/** The methods that a grant with these terms has, if they say so. Bounds on methods alone name them, too. */
export const methodsOf = ({ methods, where }: GrantTerms): readonly string[] | undefined =>
  methods ?? (where === undefined ? undefined : Object.keys(where));

function strictCalls(asked: GrantTerms, said: GrantTerms): GrantTerms {
  const [most, mine] = [methodsOf(asked), methodsOf(said)];
  for (const method of mine ?? [])
    if (most?.includes(method) === false)
      wider(
        `"${safeText(method, 64).text}" is not a method that`,
        most.map((name) => safeText(name, 64).text).join(', '),
      );
  const methods = mine ?? most;
  if (methods === undefined) return {};
  const [above, own] = [asked.where, said.where].map((where) => (where === undefined ? undefined : readBounds(where)));
  const bounds = methods.flatMap((method) => {
    const positions = strictBounds(method, above, own);
    return positions === undefined ? [] : [[method, positions] as const];
  });
  return { methods, ...(bounds.length === 0 ? {} : { where: Object.fromEntries(bounds) as Bounds }) };
}

type Positions = Bounds[string];
const positionsOf = (where: Bounds | undefined, method: string): Positions | undefined =>
  where !== undefined && Object.hasOwn(where, method) ? where[method] : undefined;
const mostArguments = (positions: Positions): number => 1 + Math.max(...Object.keys(positions).map(Number));

/**
 * A bounded method takes no argument after the last bounded one, so both have to bound the same last one:
 * else one of them allows more.
 */
function strictBounds(method: string, asked: Bounds | undefined, said: Bounds | undefined): Positions | undefined {
  const [most, mine] = [positionsOf(asked, method), positionsOf(said, method)];
  if (most === undefined || mine === undefined) return most ?? mine;
  const name = safeText(method, 64).text;
  if (mostArguments(mine) !== mostArguments(most))
    wider(`the bounds of "${name}"`, `${mostArguments(most)} arguments: bound the last one of these, too`);
  const both: Record<string, Positions[number]> = { ...most };
  for (const [position, bound] of Object.entries(mine)) {
    const above = Object.hasOwn(most, position) ? most[Number(position)] : undefined;
    const narrower = above === undefined ? bound : narrowerBound(above, bound);
    if (above !== undefined && narrower === undefined)
      wider(`argument ${Number(position) + 1} of "${name}"`, safeText(boundText(above), 100).text);
    both[position] = narrower ?? bound;
  }
  return both;
}

/** The level up to which calls go on. A grant that names none has `medium`. */
function lowerLevel(asked: GrantTerms['level'], said: GrantTerms['level']): GrantTerms['level'] {
  if (asked === undefined && said === undefined) return undefined;
  const [most, mine] = [callLevels.indexOf(asked ?? 'medium'), callLevels.indexOf(said ?? asked ?? 'medium')];
  if (mine > most) wider('level', callLevels[most] as string);
  return callLevels[Math.min(most, mine)];
}

/** A call that waits for a yes in one of the two waits. */
function bothGated(asked: GrantTerms['gated'], said: GrantTerms['gated']): GrantTerms['gated'] {
  if (asked === undefined || said === undefined) return asked ?? said;
  return asked === true || said === true ? true : [...new Set([...asked, ...said])];
}
