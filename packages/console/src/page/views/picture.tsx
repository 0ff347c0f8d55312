/**
 * The picture of authority. Each node is a button: it says in words what it leads to, and marks the way.
 */
import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { letterSize } from '../drivers/browser.ts';
import { type PictureNode, pictureOf } from '../logic/picture.ts';
import { shortId } from '../logic/words.ts';
import type { Model, State } from '../model.ts';
import { Text } from './text.tsx';

/** The places of nodes, in sizes of a letter. */
const ACROSS = 14;
const DOWN = 2.75;
/** A larger picture is no picture any more. */
const MOST = 400;

export function Picture({ state }: { readonly model: Model; readonly state: State }): JSX.Element {
  const all = useMemo(
    () => pictureOf(state.sessions, state.grants, state.gone),
    [state.sessions, state.grants, state.gone],
  );
  const [chosen, setChosen] = useState('host');
  const nodes = all.slice(0, MOST);
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const marked = wayOf(byId, chosen);
  const size = letterSize();
  const columns = Math.max(...nodes.map(({ column }) => column)) + 1;
  const rows = Math.max(...nodes.map(({ row }) => row)) + 1;
  const at = ({ column, row }: PictureNode): { readonly x: number; readonly y: number } => ({
    x: column * ACROSS * size,
    y: row * DOWN * size,
  });
  const node = byId.get(chosen);
  return (
    <section aria-labelledby="picture-title">
      <h2 id="picture-title">Who holds what</h2>
      <p role="status">{node !== undefined && <Said node={node} all={byId} />}</p>
      {all.length > MOST && <p>{all.length - MOST} more are not drawn: the grants have a table of their own.</p>}
      <div class="wide long" tabIndex={0} role="region" aria-label="picture of who holds what">
        <div class="picture" style={{ width: `${columns * ACROSS}rem`, height: `${rows * DOWN}rem` }}>
          <svg aria-hidden="true" width={columns * ACROSS * size} height={rows * DOWN * size}>
            {nodes.flatMap((from) =>
              from.to.flatMap((id) => {
                const to = byId.get(id);
                if (to === undefined) return [];
                const [a, b] = [at(from), at(to)];
                const [x, y, end] = [a.x + 11 * size, a.y + size, b.y + size];
                const on = marked.has(from.id) && marked.has(id);
                return [
                  <path
                    key={`${from.id} ${id}`}
                    class={`${on ? 'on' : ''} ${to.ended || from.ended ? 'ended' : ''}`}
                    d={`M${x} ${y} C${x + 1.5 * size} ${y} ${b.x - 1.5 * size} ${end} ${b.x} ${end}`}
                  />,
                ];
              }),
            )}
          </svg>
          <ul>
            {nodes.map((each) => (
              <li key={each.id}>
                <button
                  type="button"
                  aria-pressed={each.id === chosen}
                  class={`${marked.has(each.id) ? 'on' : ''} ${each.ended ? 'ended' : ''}`}
                  style={{ left: `${at(each).x}px`, top: `${at(each).y}px` }}
                  onClick={() => setChosen(each.id)}
                >
                  <span class="hidden">{each.ended ? `ended ${each.kind}` : each.kind} </span>
                  <Text of={each.label} exact />
                </button>
              </li>
            ))}
          </ul>
        </div>
      </div>
    </section>
  );
}

/** The nodes that a node leads to, in words. */
function Said({
  node,
  all,
}: {
  readonly node: PictureNode;
  readonly all: ReadonlyMap<string, PictureNode>;
}): JSX.Element {
  const to = node.to.flatMap((id) => all.get(id) ?? []);
  const id = node.kind === 'cap' || node.kind === 'session' ? ` ${shortId(node.id)}` : '';
  return (
    <>
      {`The ${node.kind}${id} `}
      <Text of={node.label} exact />
      {node.ended && ' has ended. It led to'}
      {!node.ended && (to.length === 0 ? ' leads no further.' : ' leads to')}{' '}
      {to.map((each, n) => (
        <span key={each.id}>
          {n > 0 && ', '}
          <Text of={each.label} exact />
          {each.ended && ' (ended)'}
        </span>
      ))}
    </>
  );
}

/** The chosen node, all that it leads to, and all that lead to it. */
function wayOf(all: ReadonlyMap<string, PictureNode>, chosen: string): ReadonlySet<string> {
  const marked = new Set<string>();
  const down = (id: string): void => {
    if (marked.has(id)) return;
    marked.add(id);
    for (const to of all.get(id)?.to ?? []) down(to);
  };
  down(chosen);
  const up = new Set([chosen]);
  for (const id of up) for (const [from, { to }] of all) if (to.includes(id)) up.add(from);
  return new Set([...marked, ...up]);
}
