/**
 * One request, and the answers to it.
 *
 * Promise: an approval is bound to what this card shows: the answer carries its digest. The button arms 700 ms after the
 * whole card was on the screen and at rest, and takes only a click that began on it when it was armed. Refusing is always
 * possible.
 */
import type { JSX } from 'preact';
import { shortId, timeText } from '../logic/words.ts';
import type { Model, Shown } from '../model.ts';
import { Answers } from './answers.tsx';
import { Diff } from './diff.tsx';
import { Stale } from './stale.tsx';
import { Text } from './text.tsx';
import { useArming, useSeconds } from './use.ts';

interface CardProps {
  readonly shown: Shown;
  readonly model: Model;
  /** Changes when cards above this one came or went. */
  readonly place: number;
  readonly focus: boolean;
}

export function Card({ shown, model, place, focus }: CardProps): JSX.Element {
  const { request, asked, ends } = shown;
  const time = useSeconds();
  const { armed, start, end } = useArming(`${request.id} ${request.digest}`, place);
  const id = shortId(request.id);
  const title = `title-${request.id}`;
  return (
    <article class="card" aria-labelledby={title}>
      <span class="edge" ref={start as never} />
      <header>
        <h3 id={title}>
          <span class="id">{id}</span> <Text of={request.effect} />
        </h3>
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
      <Answers {...{ request, model, armed, focus, id }} />
      <span class="edge" ref={end as never} />
    </article>
  );
}
