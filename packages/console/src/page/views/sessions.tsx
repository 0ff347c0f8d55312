/** The sessions as a tree, each with what it holds. */
import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { fieldsOf, type LedgerRow, petnamesIn } from '../logic/ledger.ts';
import { dateText, shortId, usesText } from '../logic/words.ts';
import type { Model, SessionRow, State } from '../model.ts';
import { Confirm } from './confirm.tsx';
import { Text } from './text.tsx';

export function Sessions({ model, state }: { readonly model: Model; readonly state: State }): JSX.Element {
  const known = new Set(state.sessions.map(({ id }) => id));
  const roots = state.sessions.filter(({ parent }) => parent === undefined || !known.has(parent));
  return (
    <section aria-labelledby="sessions-title">
      <h2 id="sessions-title">Sessions</h2>
      {roots.length === 0 ? <p>No session is open.</p> : <Branch {...{ model, state }} rows={roots} />}
      <Timeline state={state} />
    </section>
  );
}

/** How many calls the timeline shows. */
const MOST = 50;
const CALLS: ReadonlySet<string> = new Set(['call', 'result', 'refuse']);

/** The latest calls, the newest first. */
function Timeline({ state }: { readonly state: State }): JSX.Element {
  const petnames = useMemo(() => petnamesIn(state.lines), [state.lines]);
  const calls: LedgerRow[] = [];
  for (let at = state.lines.length - 1; at >= 0 && calls.length < MOST; at -= 1) {
    const line = state.lines[at] as LedgerRow;
    if (CALLS.has(line.kind)) calls.push(line);
  }
  return (
    <section aria-labelledby="calls-title">
      <h3 id="calls-title">Latest calls</h3>
      {calls.length === 0 && <p>Nothing was called yet.</p>}
      <ol class="related calls">
        {calls.map((line) => {
          const { method, code } = fieldsOf(line.text);
          const held = petnames.get(line.grant ?? '');
          const session = line.session ?? held?.session;
          return (
            <li key={line.seq}>
              {line.at === undefined ? '' : dateText(line.at)} {session === undefined ? '' : shortId(session)}{' '}
              <Text of={`${held?.petname ?? shortId(line.grant ?? '')}.${String(method ?? '?')}`} exact />{' '}
              {line.kind === 'refuse' ? 'was refused' : line.kind === 'result' ? 'ended' : 'was called'}
              {typeof code === 'string' && (
                <>
                  : <Text of={code} exact />
                </>
              )}
            </li>
          );
        })}
      </ol>
    </section>
  );
}

interface BranchProps {
  readonly model: Model;
  readonly state: State;
  readonly rows: readonly SessionRow[];
}

function Branch({ model, state, rows }: BranchProps): JSX.Element {
  return (
    <ul class="tree">
      {rows.map(({ id, name }) => {
        const held = state.grants.filter((grant) => grant.session === id);
        const children = state.sessions.filter(({ parent }) => parent === id);
        const short = shortId(id);
        return (
          <li key={id}>
            <strong>
              <Text of={name} exact />
            </strong>{' '}
            {short}{' '}
            <Confirm
              label={`Revoke all of ${short}`}
              question={`Revoke everything that ${short} holds?`}
              yes="Revoke all of it"
              then={() => void model.revoke({ session: id }, `All grants of ${short} are revoked.`)}
            />{' '}
            <Confirm
              label={`End ${short}`}
              question={`End ${short} and its children?`}
              yes="End it"
              then={() => void model.end(id, `${short} has ended.`)}
            />
            {held.length === 0 ? (
              <p class="facts">It holds nothing.</p>
            ) : (
              <ul class="held">
                {held.map((grant) => (
                  <li key={grant.id}>
                    <Text of={grant.petname} exact /> leads to <Text of={grant.what} exact />,{' '}
                    {usesText(grant.usesLeft)} ({shortId(grant.id)})
                  </li>
                ))}
              </ul>
            )}
            {children.length > 0 && <Branch {...{ model, state }} rows={children} />}
          </li>
        );
      })}
    </ul>
  );
}
