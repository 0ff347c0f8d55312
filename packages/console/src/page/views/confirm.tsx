/** A button that asks once more. The safe answer has the focus, and a double click cannot give both answers. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';

interface ConfirmProps {
  readonly label: string;
  /** What would happen, in words. */
  readonly question: string;
  readonly yes: string;
  readonly then: () => void;
}

export function Confirm({ label, question, yes, then }: ConfirmProps): JSX.Element {
  const [asked, setAsked] = useState(false);
  if (!asked)
    return (
      <button type="button" class="stop" onClick={() => setAsked(true)}>
        {label}
      </button>
    );
  return (
    <span class="confirm" role="alertdialog" aria-label={question}>
      {question}{' '}
      <button type="button" ref={(button) => button?.focus()} onClick={() => setAsked(false)}>
        No
      </button>{' '}
      <button
        type="button"
        class="stop"
        onClick={() => {
          setAsked(false);
          then();
        }}
      >
        {yes}
      </button>
    </span>
  );
}
