/** The requests that wait, the oldest first, so that an arrival moves no card. */
import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { groupsOf } from '../logic/groups.ts';
import type { Model, Shown, State } from '../model.ts';
import { Card } from './card.tsx';

/** How many cards are drawn. The others wait their turn, and are counted. */
const MOST = 20;

export function Inbox({ model, state }: { readonly model: Model; readonly state: State }): JSX.Element {
  /** Requests that the person wants to answer one by one. */
  const [apart, setApart] = useState<ReadonlySet<string>>(new Set());
  const groups = groupsOf(state.requests, new Map([...state.alike].filter(([id]) => !apart.has(id))));
  const cards = groups.slice(0, MOST);
  const more = groups.slice(MOST).reduce((count, group) => count + group.length, 0);
  const order = useRef({ text: '', number: 0 });
  // A card moves when one above it goes, or changes its height with its text.
  const text = cards.map((group) => `${group.map(shownOf).join(',')}\n`).join('');
  if (!text.startsWith(order.current.text)) order.current = { text, number: order.current.number + 1 };
  else order.current = { ...order.current, text };
  return (
    <section aria-labelledby="inbox-title">
      <h2 id="inbox-title">Inbox</h2>
      {cards.length === 0 && <p>Nothing waits for an answer.</p>}
      {cards.map((group, at) => (
        <Card
          key={group[0].request.id}
          {...{ group, model }}
          place={order.current.number}
          focus={at === 0}
          divide={() => setApart(new Set([...apart, ...group.map(({ request }) => request.id)]))}
        />
      ))}
      {more > 0 && (
        <p>
          {more} more {more === 1 ? 'request waits' : 'requests wait'} behind these.
        </p>
      )}
    </section>
  );
}

const shownOf = ({ request }: Shown): string => `${request.id} ${request.digest}`;
