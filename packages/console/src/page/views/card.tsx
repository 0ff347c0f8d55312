/**
 * One request, or some that ask for the same, and the answers to them.
 *
 * Promise: an approval is bound to what this card shows: the answer carries its digest. The button arms 700 ms after the
 * whole card was on the screen and at rest, and takes only a click that began on it when it was armed. Refusing is always
 * possible.
 */
import type { JSX } from 'preact';
import { withoutIds } from '../logic/groups.ts';
import { shortId, timeText } from '../logic/words.ts';
import type { Model, Shown } from '../model.ts';
import { Answers } from './answers.tsx';
import { Diff } from './diff.tsx';
import { Stale } from './stale.tsx';
import { Text } from './text.tsx';
import { useArming, useSeconds } from './use.ts';

interface CardProps {
  /** One request, or several that ask for the same. */
  readonly group: readonly [Shown, ...Shown[]];
  readonly model: Model;
  /** Changes when cards above this one came or went. */
  readonly place: number;
  readonly focus: boolean;
  /** Shows the requests of the group one by one. */
  readonly divide: () => void;
}

export function Card({ group, model, place, focus, divide }: CardProps): JSX.Element {
  const [shown] = group;
  const request = group.length === 1 ? shown.request : withoutIds(shown.request);
  // One that joins the group makes it another card, which has to be read again.
  const { armed, start, end } = useArming(group.map(({ request: { id, digest } }) => `${id} ${digest}`).join(), place);
  const id = group.length === 1 ? shortId(request.id) : `all ${group.length}`;
  const title = `title-${request.id}`;
  return (
    <article class="card" aria-labelledby={title}>
      <span class="edge" ref={start as never} />
      <header>
        <h3 id={title}>
          <span class="id">{group.map((each) => shortId(each.request.id)).join(', ')}</span>{' '}
          <Text of={request.effect} />
        </h3>
        {group.length === 1 ? (
          <Facts shown={shown} />
        ) : (
          <section class="same">
            <p>
              {group.length} requests ask for the same. One answer goes to each of them.{' '}
              <button type="button" class="quiet" onClick={divide}>
                Show them one by one
              </button>
            </p>
            <ul>
              {group.map((each) => (
                <li key={each.request.id}>
                  {shortId(each.request.id)} of {shortId(each.request.session)}: <Facts shown={each} />
                </li>
              ))}
            </ul>
          </section>
        )}
      </header>
      {request.stale !== undefined && <Stale request={request} before={shown.before} />}
      {request.flags.map((flag) => (
        <p class="beware" key={flag}>
          Beware: <Text of={flag} />
        </p>
      ))}
      <table class="values">
        <tbody>
          {request.table.map(([name, value], at) => (
            <tr key={at}>
              <th scope="row">
                <Text of={name} />
              </th>
              <td>
                <Text of={value} exact />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {request.diff !== undefined && <Diff diff={request.diff} />}
      <h4>A yes also permits</h4>
      <ul class="permits">
        {request.permits.map((line, at) => (
          <li key={at}>
            <Text of={line} />
          </li>
        ))}
      </ul>
      {request.why !== '' && (
        <blockquote>
          <Text of={request.why} />
        </blockquote>
      )}
      {request.proposals.map(({ means, why }, at) => (
        <blockquote key={at}>
          A judge proposes <Text of={means} />: <Text of={why} />
        </blockquote>
      ))}
      <Answers requests={[request, ...group.slice(1).map((each) => each.request)]} {...{ model, armed, focus, id }} />
      <span class="edge" ref={end as never} />
    </article>
  );
}

/** Who asks, since when, and whether somebody waits for the answer. */
function Facts({ shown: { request, asked, ends } }: { readonly shown: Shown }): JSX.Element {
  const time = useSeconds();
  return (
    <p class="facts">
      asked by{' '}
      {request.asker.map((name, at) => (
        <span key={at}>
          {at > 0 && ' › '}
          <Text of={name} exact />
        </span>
      ))}
      , {timeText(time - asked)} ago{request.count > 1 && `, ${request.count} times`};{' '}
      {request.draft === true
        ? 'a draft, nobody waits for it'
        : request.waiting
          ? 'the caller waits'
          : 'the caller is not connected now'}
      ; it can be answered for {timeText(Math.max(0, ends - time))}
    </p>
  );
}
