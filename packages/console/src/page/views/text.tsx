/**
 * The one way in which a text of others gets onto the page.
 *
 * Promise: it becomes text nodes and nothing else. Characters that would not be seen are shown by their numbers. The text
 * is in a box of its own, so that no character in it changes the order of what stands around it.
 */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { type Part, partsOf } from '../logic/visible.ts';

/** A longer value is cut in its middle. */
const MOST = 600;

const Piece = ({ part }: { readonly part: Part }): JSX.Element => {
  switch (part.kind) {
    case 'odd':
      return <span class="odd">{`⟨${part.name}⟩`}</span>;
    case 'alike':
      return (
        <span class="alike">
          {part.text}
          <span class="odd">{`⟨${part.name}⟩`}</span>
        </span>
      );
    case 'cut':
      return <span class="cut">{` … ${part.count} characters are left out … `}</span>;
    default:
      return <>{part.text}</>;
  }
};

interface TextProps {
  readonly of: string;
  /** A path, a value or a line of a file, whose characters stand in the order in which they are. */
  readonly exact?: boolean;
  /** It is never cut: something may have changed in its middle. */
  readonly all?: boolean;
}

export function Text({ of, exact = false, all = false }: TextProps): JSX.Element {
  const [whole, setWhole] = useState(all);
  const parts = partsOf(of, whole ? undefined : MOST);
  return (
    <>
      <bdi class={exact ? 'text exact' : 'text'} dir={exact ? 'ltr' : 'auto'}>
        {parts.map((part, at) => (
          <Piece key={at} part={part} />
        ))}
      </bdi>
      {parts.some(({ kind }) => kind === 'cut') && (
        <button type="button" class="quiet" onClick={() => setWhole(true)}>
          Show all of it
        </button>
      )}
    </>
  );
}
