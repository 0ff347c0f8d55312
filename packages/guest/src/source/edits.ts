/**
 * Rewrites parts of a text and remembers where each piece came from.
 *
 * Promise: a replacement has at least as many line ends as the text it replaces, so lines stay where they
 * were. `where` maps a position in the result back to the source.
 */
import { Lines, lastNotAbove, lineEnds, type Position } from './position.ts';

/** Replaces the text from `from` to `to`. If both are equal, `text` is inserted there. */
export interface Edit {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

export interface Edited {
  readonly code: string;
  /** Maps a position in `code` to the source. Text around the source maps to its begin or its end. */
  where(line: number, column: number): Position;
}

/**
 * The origin of a piece. Positions in a copied piece advance with the source. All of a replacement maps to
 * its begin.
 */
interface Origin {
  readonly offset: number;
  readonly copied: boolean;
}

/** Applies edits, which must not overlap, and puts `before` and `after` around the result. */
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
      // Computed on demand: only failing programs need it.
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
