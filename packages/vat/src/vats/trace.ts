/**
 * Prints one chain of turns, by cause, from the records that an observer received.
 *
 * After Causeway and Goblins' vat-trace: the tree follows causes, not time.
 */
import type { TurnRecord } from '../core/types.ts';

const line = (record: TurnRecord): string => {
  const method = record.method === '' ? '()' : `.${record.method}`;
  const outcome = record.code === 'ok' ? '' : `  ! ${record.code}`;
  return `#${record.seq} ${record.vat}: ${record.from ?? 'host'} -> ${record.to}${method}  ${record.ms.toFixed(2)} ms${outcome}`;
};

/**
 * The turns that led to turn `seq`, and all turns that it caused, as an indented tree. Empty if `records`
 * lacks `seq`.
 */
export function trace(records: readonly TurnRecord[], seq: number): string {
  const bySeq = new Map(records.map((record) => [record.seq, record]));
  let root = bySeq.get(seq);
  if (root === undefined) return '';
  const path = new Set([root.seq]);
  for (let cause = root.cause; cause !== undefined && bySeq.has(cause); cause = bySeq.get(cause)?.cause) {
    root = bySeq.get(cause) as TurnRecord;
    path.add(root.seq);
  }
  const effects = new Map<number, TurnRecord[]>();
  for (const record of records) {
    if (record.cause === undefined) continue;
    const siblings = effects.get(record.cause);
    if (siblings === undefined) effects.set(record.cause, [record]);
    else siblings.push(record);
  }
  const lines: string[] = [];
  const stack: { readonly record: TurnRecord; readonly depth: number; readonly below: boolean }[] = [
    { record: root, depth: 0, below: root.seq === seq },
  ];
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const { record, depth, below } = next;
    lines.push('  '.repeat(depth) + line(record));
    for (const effect of [...(effects.get(record.seq) ?? [])].reverse()) {
      // Above `seq`, show only the path that led to it and not its siblings.
      if (below || path.has(effect.seq))
        stack.push({ record: effect, depth: depth + 1, below: below || effect.seq === seq });
    }
  }
  return lines.join('\n');
}
