/** Says that a request has changed since it was shown, and what is other than it was. */
import type { Request } from '@hob/host';
import type { JSX } from 'preact';
import { changesOf } from '../logic/changes.ts';
import { shortId } from '../logic/words.ts';
import { Text } from './text.tsx';

interface StaleProps {
  readonly request: Request;
  /** The request that this one replaces. Undefined if this page never showed it. */
  readonly before: Request | undefined;
}

export function Stale({ request, before }: StaleProps): JSX.Element {
  const old = shortId(request.stale ?? '');
  const changes = before === undefined ? [] : changesOf(before, request);
  return (
    <section class="beware stale">
      <p>
        <strong>STALE:</strong> this replaces {old}, which has changed since it was shown. Read it again.
        {before === undefined && ` This page did not show ${old}, so it cannot say what was different.`}
        {before !== undefined &&
          changes.length === 0 &&
          ' It reads as it did: what stands behind it is another object.'}
      </p>
      {changes.length > 0 && (
        <div class="wide" tabIndex={0} role="region" aria-label={`the changes since ${old}`}>
          <table class="changes">
            <thead>
              <tr>
                <th scope="col">Changed</th>
                <th scope="col">{old}, as it was</th>
                <th scope="col">{shortId(request.id)}, as it is now</th>
              </tr>
            </thead>
            <tbody>
              {changes.map(({ what, before: was, after: is }, at) => (
                <tr key={at}>
                  <th scope="row">
                    <Text of={what} />
                  </th>
                  <Side text={was} kind="out" />
                  <Side text={is} kind="in" />
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

const Side = ({ text, kind }: { readonly text: string | undefined; readonly kind: 'in' | 'out' }): JSX.Element =>
  text === undefined ? (
    <td class="none">not there</td>
  ) : (
    <td class={kind}>
      <Text of={text} exact all />
    </td>
  );
