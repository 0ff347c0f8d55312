/** The frame of the page: where a person is, what waits, and the way to stop everything. */
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { askToNotify, notifying } from '../drivers/browser.ts';
import type { Model } from '../model.ts';
import { Confirm } from './confirm.tsx';
import { Grants } from './grants.tsx';
import { Inbox } from './inbox.tsx';
import { Ledger } from './ledger.tsx';
import { Passkeys } from './passkeys.tsx';
import { Picture } from './picture.tsx';
import { Refused } from './refused.tsx';
import { Sessions } from './sessions.tsx';
import { Suggestions } from './suggestions.tsx';
import { Text } from './text.tsx';
import { useModel } from './use.ts';

const ROOMS = ['Inbox', 'Grants', 'Sessions', 'Picture', 'Refused', 'Suggestions', 'Passkeys', 'Ledger'] as const;
type Room = (typeof ROOMS)[number];
const VIEWS = { Inbox, Grants, Sessions, Picture, Refused, Suggestions, Passkeys, Ledger } as const;

export function Frame({ model }: { readonly model: Model }): JSX.Element {
  const state = useModel(model);
  const [room, setRoom] = useState<Room>('Inbox');
  const waiting = state.requests.length;
  useEffect(() => {
    document.title = waiting === 0 ? 'Hob console' : `(${waiting}) Hob console`;
  }, [waiting]);
  const View = VIEWS[room];
  const over = state.lost !== undefined;
  return (
    <>
      <header class="top">
        <h1>Hob</h1>
        <nav aria-label="rooms">
          {ROOMS.map((name) => (
            <button
              key={name}
              type="button"
              aria-current={name === room ? 'page' : undefined}
              onClick={() => setRoom(name)}
            >
              {name === 'Inbox' ? `Inbox (${waiting})` : name}
            </button>
          ))}
        </nav>
        <Notices />
        <Confirm
          label="Stop everything"
          question="Revoke every grant of every session?"
          yes="Revoke everything"
          then={() => void model.revoke('all', 'Every grant is revoked.')}
        />
      </header>
      {over && (
        <p class="beware" role="alert">
          <Text of={state.lost ?? ''} />
        </p>
      )}
      <p class="notice" role="status">
        <Text of={state.notice} />
      </p>
      <p class="hidden" role="log" aria-live="polite">
        {waiting === 0
          ? 'Nothing waits for an answer.'
          : `${waiting} ${waiting === 1 ? 'request waits' : 'requests wait'} for an answer.`}
      </p>
      <main inert={over}>
        <View model={model} state={state} />
      </main>
    </>
  );
}

/** Asks the browser for notifications. It is gone once the person has said yes or no. */
function Notices(): JSX.Element | null {
  const [state, setState] = useState(notifying);
  if (state !== 'unasked') return null;
  return (
    <button type="button" class="quiet" onClick={() => void askToNotify().then(() => setState(notifying()))}>
      Notify me
    </button>
  );
}
