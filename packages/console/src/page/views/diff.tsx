/** The change of a file, one below the other or side by side. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { tokensOf } from '../logic/colours.ts';
import { type DiffLine, linesOf, pairsOf } from '../logic/diff.ts';
import { Text } from './text.tsx';

/** Told by a sign, not only by a colour. */
const SIGNS = { in: '+', out: '−', same: ' ', head: ' ' } as const;
const WORDS = { in: 'added', out: 'removed', same: '', head: '' } as const;

const Line = ({ line }: { readonly line: DiffLine | undefined }): JSX.Element =>
  line === undefined ? (
    <td class="none" />
  ) : (
    <td class={line.kind}>
      <span aria-hidden="true">{SIGNS[line.kind]} </span>
      <span class="hidden">{WORDS[line.kind]} </span>
      {line.kind === 'head' ? (
        <Text of={line.text} exact />
      ) : (
        tokensOf(line.text).map(({ kind, text }, at) => (
          <span key={at} class={`code-${kind}`}>
            <Text of={text} exact />
          </span>
        ))
      )}
    </td>
  );

export function Diff({ diff }: { readonly diff: string }): JSX.Element {
  const [beside, setBeside] = useState(false);
  const lines = linesOf(diff);
  return (
    <section class="diff">
      <div class="row">
        <h4>What would change</h4>
        <button type="button" class="quiet" aria-pressed={beside} onClick={() => setBeside(!beside)}>
          Side by side
        </button>
      </div>
      <div class="wide" tabIndex={0} role="region" aria-label="the change, line by line">
        <table>
          <tbody>
            {beside
              ? pairsOf(lines).map(({ left, right }, at) => (
                  <tr key={at}>
                    <Line line={left} />
                    <Line line={right} />
                  </tr>
                ))
              : lines.map((line, at) => (
                  <tr key={at}>
                    <Line line={line} />
                  </tr>
                ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
