/**
 * Checks in the browser that lines of the ledger follow one another.
 *
 * Each line names the hash of the line before it. A line of another granter is not here, so the two lines around it cannot
 * be compared: such places are counted.
 */

interface ChainVerdict {
  /** Pairs of lines that follow one another. */
  readonly linked: number;
  /** Places at which lines of others are missing. */
  readonly gaps: number;
  /** The number of the first line that does not follow the one before it. */
  readonly broken: number | undefined;
}

interface Link {
  readonly seq: number;
  readonly prev: string;
}

function linkOf(text: string): Link | undefined {
  try {
    const { seq, prev } = JSON.parse(text) as Partial<Link>;
    return typeof seq === 'number' && typeof prev === 'string' ? { seq, prev } : undefined;
  } catch {
    return undefined;
  }
}

/** `lines` as the host gave them, in their order. `hash` is SHA-256 as base64url. */
export async function chainOf(
  lines: readonly string[],
  hash: (text: string) => Promise<string>,
): Promise<ChainVerdict> {
  let linked = 0;
  let gaps = 0;
  let before: { readonly seq: number; readonly text: string } | undefined;
  for (const text of lines) {
    const link = linkOf(text);
    if (link === undefined) return { linked, gaps, broken: before === undefined ? 1 : before.seq + 1 };
    if (before !== undefined) {
      if (link.seq <= before.seq) return { linked, gaps, broken: link.seq };
      if (link.seq > before.seq + 1) gaps += 1;
      else if (link.prev === (await hash(before.text))) linked += 1;
      else return { linked, gaps, broken: link.seq };
    }
    before = { seq: link.seq, text };
  }
  return { linked, gaps, broken: undefined };
}
