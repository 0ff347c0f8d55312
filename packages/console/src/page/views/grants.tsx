/** The grants that live, with what is left of them, and the ways to take from them. */
import type { Grant } from '@hob/host';
import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { lastUses } from '../logic/ledger.ts';
import { dateText, leftText, shortId } from '../logic/words.ts';
import type { Model, State } from '../model.ts';
import { Confirm } from './confirm.tsx';
import { Text } from './text.tsx';
import { useRows } from './use.ts';

/** The height of a row, in sizes of a letter. */
const ROW = 3;

export function Grants({ model, state }: { readonly model: Model; readonly state: State }): JSX.Element {
  const names = useMemo(() => new Map(state.sessions.map(({ id, name }) => [id, name])), [state.sessions]);
  const used = useMemo(() => lastUses(state.lines), [state.lines]);
  const { first, last, height, onScroll } = useRows(state.grants.length, ROW);
  return (
    <section aria-labelledby="grants-title">
      <h2 id="grants-title">Live grants</h2>
      {state.grants.length === 0 && <p>Nobody holds anything.</p>}
      <div class="wide long" tabIndex={0} role="region" aria-label="table of grants" onScroll={onScroll}>
        <table class="rows" aria-rowcount={state.grants.length + 1}>
          <thead>
            <tr>
              <th scope="col">Grant</th>
              <th scope="col">Petname</th>
              <th scope="col">Leads to</th>
              <th scope="col">Session</th>
              <th scope="col">Left</th>
              <th scope="col">Until</th>
              <th scope="col">Last use</th>
              <th scope="col">From</th>
              <th scope="col">Take away</th>
            </tr>
          </thead>
          <tbody>
            <Space px={first * height} />
            {state.grants.slice(first, last).map((grant, at) => (
              <Row
                key={grant.id}
                {...{ grant, model }}
                index={first + at + 2}
                session={names.get(grant.session) ?? grant.session}
                used={used.get(grant.id)}
              />
            ))}
            <Space px={(state.grants.length - last) * height} />
          </tbody>
        </table>
      </div>
    </section>
  );
}

/** The place of rows that are not drawn. */
const Space = ({ px }: { readonly px: number }): JSX.Element => <tr style={{ height: `${px}px` }} />;

interface RowProps {
  readonly grant: Grant;
  readonly model: Model;
  readonly session: string;
  readonly index: number;
  /** The time of its last call. */
  readonly used: number | undefined;
}

function Row({ grant, model, session, index, used }: RowProps): JSX.Element {
  const [narrowing, setNarrowing] = useState(false);
  const id = shortId(grant.id);
  return (
    <tr class="grant" aria-rowindex={index}>
      <th scope="row">{id}</th>
      <td>
        <Text of={grant.petname} exact />
      </td>
      <td>
        <Text of={grant.what} exact />
        {grant.where !== undefined && (
          <>
            , <Text of={grant.where} exact />
          </>
        )}
      </td>
      <td>
        <Text of={session} exact /> {shortId(grant.session)}
      </td>
      <td>{leftText(grant)}</td>
      <td>
        {dateText(grant.until)}
        {grant.madeUntil !== undefined && `; objects it made: ${dateText(grant.madeUntil)}`}
      </td>
      <td>{used === undefined ? 'not yet' : dateText(used)}</td>
      <td>{grant.parent === undefined ? '' : shortId(grant.parent)}</td>
      <td>
        <Confirm
          label={`Revoke ${id}`}
          question={`Revoke ${id}?`}
          yes="Revoke it"
          then={() => void model.revoke({ grant: grant.id }, `${id} is revoked.`)}
        />{' '}
        {narrowing ? (
          <Narrow {...{ grant, model, id }} done={() => setNarrowing(false)} />
        ) : (
          <button type="button" class="quiet" onClick={() => setNarrowing(true)}>
            Narrow {id}
          </button>
        )}
      </td>
    </tr>
  );
}

interface NarrowProps {
  readonly grant: Grant;
  readonly model: Model;
  readonly id: string;
  readonly done: () => void;
}

function Narrow({ grant, model, id, done }: NarrowProps): JSX.Element {
  const [uses, setUses] = useState('');
  const [minutes, setMinutes] = useState('');
  const given = { ...numbered('uses', uses, 1), ...numbered('for', minutes, 60_000) };
  return (
    <span>
      <label>
        uses{' '}
        <input
          type="text"
          inputMode="numeric"
          size={4}
          autocomplete="off"
          value={uses}
          onInput={(event) => setUses(event.currentTarget.value)}
        />
      </label>{' '}
      <label>
        minutes{' '}
        <input
          type="text"
          inputMode="numeric"
          size={4}
          autocomplete="off"
          value={minutes}
          onInput={(event) => setMinutes(event.currentTarget.value)}
        />
      </label>{' '}
      <button
        type="button"
        disabled={Object.keys(given).length === 0}
        onClick={async () => {
          if (await model.narrow(grant.id, given, `${id} is narrower now.`)) done();
        }}
      >
        Narrow {id}
      </button>{' '}
      <button type="button" class="quiet" onClick={done}>
        Leave it
      </button>
    </span>
  );
}

const numbered = (
  name: 'uses' | 'for',
  typed: string,
  unit: number,
): { readonly uses?: number; readonly for?: number } =>
  /^[1-9]\d{0,5}$/.test(typed.trim()) ? { [name]: Number(typed) * unit } : {};
