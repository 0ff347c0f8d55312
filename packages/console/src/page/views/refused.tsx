/** The requests that were refused lately, and the way to grant one after all: once, for a quarter of an hour. */
import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { refusedOf } from '../logic/ledger.ts';
import { dateText, shortId } from '../logic/words.ts';
import type { Model, State } from '../model.ts';
import { Confirm } from './confirm.tsx';
import { Text } from './text.tsx';

export function Refused({ model, state }: { readonly model: Model; readonly state: State }): JSX.Element {
  const refused = useMemo(() => refusedOf(state.lines), [state.lines]);
  const names = new Map(state.sessions.map(({ id, name }) => [id, name]));
  return (
    <section aria-labelledby="refused-title">
      <h2 id="refused-title">Recently refused</h2>
      {refused.length === 0 && <p>Nothing was refused.</p>}
      <ul class="tree">
        {refused.map((each) => {
          const id = shortId(each.request);
          const session = names.get(each.session);
          return (
            <li key={each.request}>
              {id}, {each.at === undefined ? '' : dateText(each.at)}: <Text of={session ?? each.session} exact />{' '}
              {shortId(each.session)} asked for <Text of={each.asks} exact />
              {each.why !== '' && (
                <>
                  ; refused because <Text of={each.why} />
                </>
              )}{' '}
              {session === undefined ? (
                <span class="facts">The session has ended.</span>
              ) : (
                <Confirm
                  label={`Grant ${id} once now`}
                  question={`Let ${shortId(each.session)} use it for one call, within 15 min?`}
                  yes={`Grant ${id} once`}
                  then={() => void model.grantOnce(each, `${id} is granted once.`)}
                />
              )}
            </li>
          );
        })}
      </ul>
    </section>
  );
}
