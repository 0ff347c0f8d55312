/** A store that was put back to an earlier state, in words for a person. */
import type { Era } from '../store/rows.ts';

/** The history of a store that was never put back, and of vats without a store. */
export const neverPutBack: Era = { now: 0, trusted: 0 };

/** Whether nobody has looked since. */
export const isPutBack = ({ now, trusted }: Era = neverPutBack): boolean => trusted < now;

/** The reason why the store is not what it was; undefined if it was never put back. */
export function becauseOf({ missing, why }: Era): string | undefined {
  if (why === undefined) return undefined;
  const reasons = {
    older: `this state was put back: ${missing === 1 ? 'its last commit is' : `its last ${missing} commits are`} missing`,
    backup: 'this state was restored from a backup',
    ledger:
      'the ledger of this state is not the one that its sentinel saw: another copy of this state was used, or lines were cut or written anew',
    lost: 'the sentinel of this state is not where it is looked for, so the state may be older than it was (another user or machine, a container that does not keep it, another --sentinel)',
    unnamed: 'this state has a sentinel, and no folder was named to look for it, so the state may be older than it was',
  };
  return `${reasons[why]}. Grants with a limit are suspended until you confirm them`;
}
