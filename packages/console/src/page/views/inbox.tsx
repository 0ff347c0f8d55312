/** The requests that wait, the oldest first, so that an arrival moves no card. */
import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';
import type { Model, State } from '../model.ts';
import { Card } from './card.tsx';

/** How many cards are drawn. The others wait their turn, and are counted. */
const MOST = 20;

export function Inbox({ model, state }: { readonly model: Model; readonly state: State }): JSX.Element {
  const cards = state.requests.slice(0, MOST);
  const more = state.requests.length - cards.length;
  const order = useRef({ text: '', number: 0 });
  // A card moves when one above it goes, or changes its height with its text.
  const text = cards.map(({ request }) => `${request.id} ${request.digest}`).join('\n');
  if (!text.startsWith(order.current.text)) order.current = { text, number: order.current.number + 1 };
  else order.current = { ...order.current, text };
  return (
    <section aria-labelledby="inbox-title">
      <h2 id="inbox-title">Inbox</h2>
      {cards.length === 0 && <p>Nothing waits for an answer.</p>}
      {cards.map((shown, at) => (
        <Card key={shown.request.id} shown={shown} model={model} place={order.current.number} focus={at === 0} />
      ))}
      {more > 0 && (
        <p>
          {more} more {more === 1 ? 'request waits' : 'requests wait'} behind these.
        </p>
      )}
    </section>
  );
}
