/** The two answers to a request: no, with a reason, and yes, on terms. */
import type { Request } from '@hob/host';
import type { JSX } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { timeOf, wall } from '../drivers/browser.ts';
import { type Choice, choicesOf, givenTo } from '../logic/choices.ts';
import { dateText, timeText } from '../logic/words.ts';
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
          // A key that is held down for another card answers this one in no way.
          onKeyDown={(event) => event.repeat && event.preventDefault()}
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
      {requests[0].needs === 'passkey' && (
        <p class="facts">A yes needs one of your passkeys. The browser asks for it.</p>
      )}
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
  const time = wall();
  const choices = choicesOf(request, time);
  const [chosen, setChosen] = useState(choices[0]?.id);
  const [typed, setTyped] = useState('');
  /** A press that began while the button was armed. */
  const pressed = useRef(false);
  const choice = choices.find((each) => each.id === chosen) ?? choices[0];
  const given = choice === undefined ? undefined : givenTo(choice, typed, timeOf);
  const press = (event: Event): void => {
    pressed.current = event.isTrusted && armed && !(event instanceof KeyboardEvent && event.repeat);
  };
  const approve = (): void => {
    const began = pressed.current;
    pressed.current = false;
    if (began && armed && !busy && choice !== undefined && given !== undefined) then(choice.terms(given));
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
              onChange={() => {
                setChosen(each.id);
                setTyped('');
              }}
            />{' '}
            {each.label}
          </label>
        ))}
        {choice !== undefined && <Given {...{ choice, typed, given, time }} then={setTyped} />}
      </fieldset>
      <button
        type="button"
        class="yes"
        disabled={!armed || busy || given === undefined}
        onPointerDown={press}
        onKeyDown={press}
        onClick={approve}
      >
        Approve {id}
      </button>
    </div>
  );
}

interface GivenProps {
  readonly choice: Choice;
  readonly typed: string;
  readonly given: number | undefined;
  /** The present, by the clock of the machine. */
  readonly time: number;
  readonly then: (typed: string) => void;
}

/** The number or the time that the choice takes, and when it ends. */
function Given({ choice, typed, given, time, then }: GivenProps): JSX.Element {
  const { takes, most = 0, ends } = choice;
  return (
    <>
      {takes === 'number' && (
        <label>
          how many{' '}
          <input
            type="text"
            inputMode="numeric"
            autocomplete="off"
            size={5}
            value={typed}
            onInput={(event) => then(event.currentTarget.value)}
          />{' '}
          (1 to {most})
        </label>
      )}
      {takes === 'time' && (
        <label>
          when{' '}
          <input
            type="datetime-local"
            autocomplete="off"
            value={typed}
            onInput={(event) => then(event.currentTarget.value)}
          />{' '}
          (at the latest {dateText(most)})
        </label>
      )}
      {(ends !== undefined || takes === 'time') && (
        <p class="facts">
          {ends ?? (given === undefined ? 'It ends then.' : `It ends in ${timeText(given - time)}.`)} The ledger has the
          outcome of each call.
        </p>
      )}
    </>
  );
}
