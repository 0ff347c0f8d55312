/**
 * The options of a request to the person at the editor, and the answer that each of them is.
 *
 * Promise: an option never gives more than was asked, and its name says how often and how long. Where a yes needs a
 * passkey there is no yes. An answer that names no option of its request gives nothing.
 */
import type { Asked, Said, Terms } from './held.ts';

/** The kinds of ACP. It has none for a session, a count or a time. */
type Kind = 'allow_once' | 'allow_always' | 'reject_once' | 'reject_always';

/** One option, as ACP shows it, with the answer that it stands for. */
export interface Option {
  readonly optionId: string;
  readonly name: string;
  readonly kind: Kind;
  readonly said: Said;
}

const MINUTE = 60_000;
const FIVE = { uses: 5, for: 15 * MINUTE } as const;

/** The options of a request. */
export function optionsOf({ kind, digest, needs, terms = {} }: Asked): readonly Option[] {
  const yes = (optionId: string, name: string, as: Kind, grant: Terms): Option => ({
    ...{ optionId, name, kind: as },
    said: { digest, grant },
  });
  const no: readonly Option[] = [
    { optionId: 'deny', name: 'Refuse', kind: 'reject_once', said: { digest, refuse: 'refused in the editor' } },
    {
      optionId: 'deny_always',
      name: 'Refuse always in this session',
      kind: 'reject_always',
      said: { digest, refuse: 'refused in the editor, for good', lasting: true },
    },
  ];
  if (needs !== undefined) return no;
  if (kind === 'call') return [yes('allow_once', 'Allow this call once', 'allow_once', {}), ...no];
  const { uses, for: ms, until, scope } = terms;
  const isOnce = scope === 'once' || uses === 1;
  const isWhole = uses === undefined && ms === undefined && until === undefined;
  const fits = !isOnce && (uses ?? FIVE.uses) >= FIVE.uses && (ms ?? FIVE.for) >= FIVE.for && until === undefined;
  return [
    yes('allow_once', 'Allow one use', 'allow_once', { uses: 1, ...timeOf(terms) }),
    ...(fits ? [yes('allow_five', 'Allow 5 uses within 15 minutes', 'allow_always', FIVE)] : []),
    ...(isWhole && (scope === 'session' || scope === 'permanent')
      ? [yes('allow_session', 'Allow until this session ends', 'allow_always', { scope: 'session' })]
      : isOnce
        ? []
        : [yes('allow_asked', `Allow as asked: ${timesOf(terms)}, ${lastsOf(terms)}`, 'allow_always', terms)]),
    ...(isWhole && scope === 'permanent'
      ? [yes('allow_always', 'Allow for 90 days, each call in the ledger', 'allow_always', { scope })]
      : []),
    ...no,
  ];
}

/** As long as was asked. */
function timeOf({ for: ms, until, scope, uses }: Terms): Terms {
  if (ms !== undefined) return { for: ms };
  if (until !== undefined) return { until };
  if (scope === 'permanent') return { scope };
  return scope !== undefined || uses !== undefined ? { scope: 'session' } : {};
}

const timesOf = ({ uses }: Terms): string => (uses === undefined ? 'any number of calls' : `${uses} uses`);

function lastsOf({ for: ms, until, scope, uses }: Terms): string {
  if (until !== undefined) return 'until the date below';
  const time = ms ?? (scope === undefined && uses === undefined ? FIVE.for : undefined);
  if (time === undefined) return 'until this session ends';
  return time < 120 * MINUTE
    ? `within ${Math.ceil(time / MINUTE)} minutes`
    : `within ${Math.ceil(time / 3_600_000)} hours`;
}

/** The answer that an editor's outcome stands for; undefined if it is none of them. */
export function saidBy(outcome: unknown, options: readonly Option[]): Said | undefined {
  const { outcome: chosen } = (outcome ?? {}) as {
    readonly outcome?: { readonly outcome?: unknown; readonly optionId?: unknown };
  };
  if (chosen?.outcome !== 'selected') return undefined;
  return options.find(({ optionId }) => optionId === chosen.optionId)?.said;
}
