/**
 * Finds in the ledger who answered a request.
 *
 * Two granters of one session have the same card. The first answer counts, and the other person learns whose it was.
 */
export interface Answered {
  readonly by: string;
  readonly how: 'approved' | 'refused';
}

/** The answers in these lines of the ledger, by the id of the request. */
export function answersIn(lines: readonly string[]): ReadonlyMap<string, Answered> {
  const found = new Map<string, Answered>();
  for (const line of lines) {
    const { k, request, by } = JSON.parse(line) as Record<string, unknown>;
    if ((k !== 'approve' && k !== 'deny') || typeof request !== 'string' || typeof by !== 'string') continue;
    found.set(request, { by, how: k === 'approve' ? 'approved' : 'refused' });
  }
  return found;
}

/** The sentence for the person who did not answer. `effect` is what the request would have done, in the host's words. */
export const answeredText = ({ by, how }: Answered, effect: string): string =>
  `${by} ${how} the request that ${effect}`;
