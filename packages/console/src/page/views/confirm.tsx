/** A button that asks once more. The safe answer has the focus, and a double click cannot give both answers. */
import type { JSX } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

interface ConfirmProps {
  readonly label: string;
  /** The consequence, in words. */
  readonly question: string;
  readonly yes: string;
  readonly then: () => void;
}

export function Confirm({ label, question, yes, then }: ConfirmProps): JSX.Element {
  const [asked, setAsked] = useState(false);
  if (asked) return <Question {...{ question, yes, then }} done={() => setAsked(false)} />;
  return (
    <button type="button" class="stop" onClick={() => setAsked(true)}>
      {label}
    </button>
  );
}

interface QuestionProps extends Omit<ConfirmProps, 'label'> {
  readonly done: () => void;
}

function Question({ question, yes, then, done }: QuestionProps): JSX.Element {
  const no = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => no.current?.focus(), []);
  return (
    <span class="confirm" role="alertdialog" aria-label={question}>
      {question}{' '}
      <button type="button" ref={no} onClick={done}>
        No
      </button>{' '}
      <button
        type="button"
        class="stop"
        onClick={() => {
          done();
          then();
        }}
      >
        {yes}
      </button>
    </span>
  );
}
