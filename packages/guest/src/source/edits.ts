/**
 * A text with some places rewritten, which knows where each piece came from.
 *
 * Promise: a rewriting holds as many line ends as what it replaces, so lines stay where they were; `where` leads from a
 * place in the result to the one it came from.
 */
import { Lines, lastNotAbove, lineEnds, type Position } from './position.ts';

/** Puts `text` in place of `from` to `to`; where both are the same it is put in between. */
export interface Edit {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

export interface Edited {
  readonly code: string;
  /** In what was put around the text: its begin, or its end. */
  where(line: number, column: number): Position;
}

/** Where a piece came from: a copied one runs on with the source, a rewritten one stands still. */
interface Origin {
  readonly offset: number;
  readonly copied: boolean;
}

/** `edits` may not overlap; `before` and `after` are put around the whole. */
export function edited(source: string, edits: readonly Edit[], before = '', after = ''): Edited {
  const pieces = [before];
  // Where each piece begins in the result.
  const starts = [0];
  const origins: Origin[] = [{ offset: 0, copied: false }];
  let length = before.length;
  const put = (text: string, offset: number, copied: boolean): void => {
    if (text === '') return;
    pieces.push(text);
    starts.push(length);
    origins.push({ offset, copied });
    length += text.length;
  };

  let done = 0;
  for (const { from, to, text } of [...edits].sort((a, b) => a.from - b.from || a.to - b.to)) {
    if (from < done) throw new Error(`rewritings overlap at ${from}`);
    put(source.slice(done, from), done, true);
    put(withLineEnds(text, source.slice(from, to)), from, false);
    done = to;
  }
  put(source.slice(done), done, true);
  put(after, source.length, false);
  const code = pieces.join('');

  let places: readonly [Lines, Lines] | undefined;
  return {
    code,
    where(line, column) {
      // Only a program that fails asks.
      places ??= [new Lines(code), new Lines(source)];
      const offset = places[0].offset({ line, column });
      const piece = lastNotAbove(starts, offset);
      const { offset: origin, copied } = origins[piece] as Origin;
      return places[1].at(origin + (copied ? offset - (starts[piece] ?? 0) : 0));
    },
  };
}

function withLineEnds(text: string, replaced: string): string {
  const missing = lineEnds(replaced).length - lineEnds(text).length;
  return missing > 0 ? text + '\n'.repeat(missing) : text;
}
