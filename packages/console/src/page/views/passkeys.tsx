/** The passkeys of this granter: for the caps whose manifest says that a yes needs one. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { dateText } from '../logic/words.ts';
import type { Model, State } from '../model.ts';
import { Confirm } from './confirm.tsx';
import { Text } from './text.tsx';

const LONGEST_NAME = 60;

export function Passkeys({ model, state }: { readonly model: Model; readonly state: State }): JSX.Element {
  const [name, setName] = useState('');
  const [busy, setBusy] = useState(false);
  const during = async (act: Promise<boolean>): Promise<void> => {
    setBusy(true);
    if (await act) setName('');
    setBusy(false);
  };
  const { passkeys } = state;
  return (
    <section aria-labelledby="passkeys-title">
      <h2 id="passkeys-title">Passkeys</h2>
      <p>
        A yes to some requests needs a passkey: the manifest says which. The first one is added as it is. Each change
        after that needs one that is there.
      </p>
      {passkeys.length === 0 && <p>There is none.</p>}
      <ul>
        {passkeys.map((passkey) => (
          <li key={passkey.id}>
            <Text of={passkey.name} exact />, added {dateText(passkey.at)}{' '}
            <Confirm
              label={`Remove ${passkey.name}`}
              question="Remove this passkey?"
              yes="Remove it"
              then={() => void during(model.removePasskey(passkey))}
            />
          </li>
        ))}
      </ul>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (!busy) void during(model.addPasskey(name.trim() === '' ? 'a passkey' : name.trim()));
        }}
      >
        <label>
          name{' '}
          <input
            type="text"
            maxLength={LONGEST_NAME}
            autocomplete="off"
            value={name}
            onInput={(event) => setName(event.currentTarget.value)}
          />
        </label>{' '}
        <button type="submit" disabled={busy}>
          Add a passkey
        </button>
      </form>
    </section>
  );
}
