/** The lines of the ledger: filtered, opened, checked in this browser, and exported. */
import type { JSX } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { checkPowers, download, sha256, timeOf } from '../drivers/browser.ts';
import { chainOf } from '../logic/chain.ts';
import { checkpointsOf } from '../logic/checkpoint.ts';
import { EVERYTHING, type Filter, fieldsOf, filtered, type LedgerRow, OUTCOMES, storyOf } from '../logic/ledger.ts';
import { dateText, shortId } from '../logic/words.ts';
import type { Model, State } from '../model.ts';
import { Text } from './text.tsx';
import { useRows } from './use.ts';

/** The height of one row, in sizes of a letter; the style sheet says the same. */
const ROW = 1.75;

export function Ledger({ model, state }: { readonly model: Model; readonly state: State }): JSX.Element {
  const [filter, setFilter] = useState<Filter>(EVERYTHING);
  const [open, setOpen] = useState<LedgerRow>();
  const [verdict, setVerdict] = useState('');
  useEffect(() => void model.readLedger(), [model]);
  const rows = useMemo(
    () => (filter === EVERYTHING ? state.lines : filtered(state.lines, filter, shortId)),
    [state.lines, filter],
  );
  const { first, last, height, onScroll } = useRows(rows.length, ROW);
  const check = async (): Promise<void> => {
    setVerdict('checking…');
    setVerdict(await checked(model));
  };
  return (
    <section aria-labelledby="ledger-title">
      <h2 id="ledger-title">Ledger</h2>
      <Filters filter={filter} set={setFilter} />
      <div class="row">
        <span aria-live="polite">
          {rows.length} of {state.lines.length} lines
        </span>
        <button type="button" onClick={() => void check()}>
          Check the chain
        </button>
        <button type="button" onClick={() => download('ledger.jsonl', rows.map(({ text }) => `${text}\n`).join(''))}>
          Export these lines
        </button>
      </div>
      {verdict !== '' && (
        <p role="status">
          <Text of={verdict} />
        </p>
      )}
      <div class="lines" role="region" aria-label="lines of the ledger" tabIndex={0} onScroll={onScroll}>
        <ol style={{ height: `${rows.length * height}px` }}>
          {rows.slice(first, last).map((row, at) => (
            <li
              key={row.seq}
              style={{ top: `${(first + at) * height}px` }}
              aria-setsize={rows.length}
              aria-posinset={first + at + 1}
            >
              <button type="button" class="line" onClick={() => setOpen(row)}>
                <span>{`E${row.seq}`}</span> <span>{row.at === undefined ? '' : dateText(row.at)}</span>{' '}
                <Text of={row.kind} exact /> <Text of={factsOf(row)} exact />
              </button>
            </li>
          ))}
        </ol>
      </div>
      {open !== undefined && <Opened row={open} lines={state.lines} close={() => setOpen(undefined)} />}
    </section>
  );
}

/** Checks the lines in this browser, and asks the host about its whole ledger. Returns what a person reads. */
async function checked(model: Model): Promise<string> {
  await model.readLedger();
  const lines = model.state.lines.map(({ text }) => text);
  const { linked, gaps, broken } = await chainOf(lines, sha256);
  const { signed, compared, bad } = await checkpointsOf(lines, checkPowers);
  const host = (await model.verify().catch(({ message }: Error) => ({ ok: false, why: message }))) as Record<string, unknown>; // biome-ignore format: one line
  const chain =
    broken === undefined
      ? `${linked} lines follow the line before them${gaps === 0 ? '' : `, and in ${gaps} places lines of other granters are not shown`}.`
      : `line ${broken} does NOT follow the line before it.`;
  const notes =
    bad === undefined
      ? `${signed} checkpoints are signed by the key of this ledger; ${compared} of them are of the lines that are here.`
      : `the checkpoint of line ${bad} is NOT a good one.`;
  return `In this browser: ${chain} In this browser: ${notes} The host says of its whole ledger: ${JSON.stringify(host)}`;
}

const TEXTS = [
  ['words', 'Lines with'],
  ['grant', 'Grant'],
  ['cap', 'Cap'],
  ['host', 'Host'],
] as const;
const TIMES = [
  ['from', 'From'],
  ['to', 'To'],
] as const;

function Filters({ filter, set }: { readonly filter: Filter; readonly set: (filter: Filter) => void }): JSX.Element {
  return (
    <div class="row" role="search" aria-label="filter of the lines">
      {TEXTS.map(([name, label]) => (
        <label key={name}>
          {label}{' '}
          <input
            type="search"
            size={10}
            autocomplete="off"
            value={filter[name]}
            onInput={(event) => set({ ...filter, [name]: event.currentTarget.value })}
          />
        </label>
      ))}
      <label>
        Outcome{' '}
        <select
          value={filter.outcome}
          onChange={(event) => set({ ...filter, outcome: event.currentTarget.value as Filter['outcome'] })}
        >
          {OUTCOMES.map((each) => (
            <option key={each} value={each}>
              {each}
            </option>
          ))}
        </select>
      </label>
      {TIMES.map(([name, label]) => (
        <label key={name}>
          {label}{' '}
          <input
            type="datetime-local"
            step={1}
            autocomplete="off"
            onInput={(event) => {
              const ms = timeOf(event.currentTarget.value);
              set({ ...filter, [name]: Number.isNaN(ms) ? undefined : ms });
            }}
          />
        </label>
      ))}
    </div>
  );
}

const factsOf = ({ session, grant, request }: LedgerRow): string =>
  [session, request, grant].flatMap((id) => (id === undefined ? [] : [shortId(id)])).join(' ');

interface OpenedProps {
  readonly row: LedgerRow;
  readonly lines: readonly LedgerRow[];
  readonly close: () => void;
}

const STEPS = [
  ['request', 'Asked'],
  ['act', 'Answered'],
  ['grant', 'Granted'],
  ['effect', 'Done'],
] as const;
/** So many lines of each step are shown. */
const MOST = 50;

/** A line, and the way from what was asked to what was done. */
function Opened({ row, lines, close }: OpenedProps): JSX.Element {
  const story = useMemo(() => storyOf(row, lines), [row, lines]);
  return (
    <aside class="opened" aria-label={`line E${row.seq}`}>
      <div class="row">
        <h3>{`E${row.seq}`}</h3>
        <button type="button" onClick={close}>
          Close
        </button>
      </div>
      <pre tabIndex={0}>
        <Text of={pretty(row.text)} exact />
      </pre>
      {STEPS.map(([step, label]) => (
        <section key={step}>
          <h4>{label}</h4>
          {story[step].length === 0 && <p class="facts">No line says so.</p>}
          <ol class="related">
            {story[step].slice(0, MOST).map((line) => (
              <li key={line.seq} aria-current={line.seq === row.seq ? 'true' : undefined}>
                {`E${line.seq} `}
                <Text of={`${line.kind} ${saidBy(line)} ${factsOf(line)}`} exact />
              </li>
            ))}
          </ol>
          {story[step].length > MOST && <p>{story[step].length - MOST} more</p>}
        </section>
      ))}
    </aside>
  );
}

/** The parts of a line that a person looks for. */
const saidBy = ({ text }: LedgerRow): string => {
  const { asks, petname, method, code, by } = fieldsOf(text);
  return [asks, petname, method, code, by === undefined ? undefined : `by ${String(by)}`]
    .filter((each) => each !== undefined)
    .map(String)
    .join(' ');
};

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2);
  } catch {
    return text;
  }
}
