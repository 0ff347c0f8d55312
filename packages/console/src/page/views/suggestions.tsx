/**
 * The change of the manifest that the host proposes, as a text to copy.
 *
 * Promise: nothing here changes what an agent may do. The one button reads the proposal again.
 */
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import type { Model, State } from '../model.ts';
import { Text } from './text.tsx';

export function Suggestions({ model, state }: { readonly model: Model; readonly state: State }): JSX.Element {
  useEffect(() => void model.readSuggestions(), [model]);
  const { suggested } = state;
  return (
    <section aria-labelledby="suggestions-title">
      <h2 id="suggestions-title">Suggestions</h2>
      <p>
        What you granted again and again could stand in the manifest, with the strictest limits that you gave. Copy the
        change, read it, and apply it by hand: this page has no button for it.{' '}
        <button type="button" class="quiet" onClick={() => void model.readSuggestions()}>
          Look again
        </button>
      </p>
      {suggested === 'none' && <p>This host proposes nothing to you.</p>}
      {suggested === undefined && <p>The host looks at the ledger.</p>}
      {typeof suggested === 'object' && (
        <>
          {suggested.diff === '' ? (
            <p>Nothing that asks was granted often enough.</p>
          ) : (
            <div class="wide" tabIndex={0} role="region" aria-label="the proposed change of the manifest">
              <pre class="proposed">
                <Text of={suggested.diff} exact all />
              </pre>
            </div>
          )}
          <ul>
            {suggested.notes.map((note, at) => (
              <li key={at}>
                <Text of={note} />
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}
