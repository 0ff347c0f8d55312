/** The two answers to a request: no, with a reason, and yes, on terms. */
import type { Request } from '@hob/host';
import type { JSX } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { type Choice, choicesOf, countOf } from '../logic/choices.ts';
import type { Model } from '../model.ts';

interface AnswersProps {
  /** They ask for the same. */
  readonly requests: readonly [Request, ...Request[]];
  readonly model: Model;
  readonly armed: boolean;
  readonly focus: boolean;
  /** The short id, or how many. */
  readonly id: string;
}

export function Answers({ requests, model, armed, focus, id }: AnswersProps): JSX.Element {
  const [why, setWhy] = useState('');
  const [busy, setBusy] = useState(false);
  const no = useRef<HTMLButtonElement>(null);
  // Once for each card, and only while nothing has the focus: an arrival takes it from nobody.
  useLayoutEffect(() => {
    if (focus && document.activeElement === document.body) no.current?.focus({ preventScroll: true });
  }, [focus]);
  const is = requests.length === 1 ? 'is' : 'are';
  const say = async (answer: Parameters<Model['answer']>[1], said: string): Promise<void> => {
    setBusy(true);
    await model.answerAll(requests, answer, said);
    setBusy(false);
  };
  return (
    <footer class="answers">
      <div class="row">
        <button
          type="button"
          class="no"
          ref={no}
          disabled={busy}
          onClick={() => void say({ refuse: why === '' ? 'refused in the console' : why }, `${id} ${is} refused.`)}
        >
          Refuse {id}
        </button>
        <label>
          because{' '}
          <input
            type="text"
            maxLength={400}
            autocomplete="off"
            value={why}
            onInput={(event) => setWhy(event.currentTarget.value)}
          />
        </label>
      </div>
      <Approval
        {...{ requests, id, armed }}
        busy={busy}
        then={(terms) => void say({ grant: terms }, `${id} ${is} approved.`)}
      />
      {!armed && (
        <p class="facts">
          Read the whole request: it can be approved a moment after its beginning and its end were on the screen.
        </p>
      )}
    </footer>
  );
}

interface ApprovalProps extends Pick<AnswersProps, 'requests' | 'armed' | 'id'> {
  readonly busy: boolean;
  readonly then: (terms: ReturnType<Choice['terms']>) => void;
}

function Approval({ requests: [request], armed, id, busy, then }: ApprovalProps): JSX.Element {
  const choices = choicesOf(request);
  const [chosen, setChosen] = useState(choices[0]?.id);
  const [typed, setTyped] = useState('');
  /** A press that began while the button was armed. */
  const pressed = useRef(false);
  const choice = choices.find((each) => each.id === chosen) ?? choices[0];
  const count = choice === undefined ? undefined : countOf(choice, typed);
  const press = (event: Event): void => {
    pressed.current = event.isTrusted && armed && !(event instanceof KeyboardEvent && event.repeat);
  };
  const approve = (): void => {
    const began = pressed.current;
    pressed.current = false;
    if (began && armed && !busy && choice !== undefined && count !== undefined) then(choice.terms(count));
  };
  return (
    <div class="row">
      <fieldset>
        <legend>Approve {id}</legend>
        {choices.map((each) => (
          <label key={each.id}>
            <input
              type="radio"
              name={`choice-${request.id}`}
              checked={each.id === chosen}
              onChange={() => setChosen(each.id)}
            />{' '}
            {each.label}
          </label>
        ))}
        {choice?.most !== undefined && (
          <label>
            how many{' '}
            <input
              type="text"
              inputMode="numeric"
              autocomplete="off"
              size={5}
              value={typed}
              onInput={(event) => setTyped(event.currentTarget.value)}
            />{' '}
            (1 to {choice.most})
          </label>
        )}
      </fieldset>
      <button
        type="button"
        class="yes"
        disabled={!armed || busy || count === undefined}
        onPointerDown={press}
        onKeyDown={press}
        onClick={approve}
      >
        Approve {id}
      </button>
    </div>
  );
}
