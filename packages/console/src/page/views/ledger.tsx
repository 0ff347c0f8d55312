/** The lines of the ledger: filtered, opened, checked in this browser, and exported. */
import type { JSX } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { download, sha256 } from '../drivers/browser.ts';
import { chainOf } from '../logic/chain.ts';
import { type LedgerRow, matches } from '../logic/ledger.ts';
import { dateText, shortId } from '../logic/words.ts';
import type { Model, State } from '../model.ts';
import { Text } from './text.tsx';

/** The height of one row on the screen, in px; the style sheet says the same. */
const ROW = 28;
const SEEN = 20;

export function Ledger({ model, state }: { readonly model: Model; readonly state: State }): JSX.Element {
  const [filter, setFilter] = useState('');
  const [top, setTop] = useState(0);
  const [open, setOpen] = useState<LedgerRow>();
  const [verdict, setVerdict] = useState('');
  useEffect(() => void model.readLedger(), [model]);
  const rows = useMemo(
    () => (filter.trim() === '' ? state.lines : state.lines.filter((row) => matches(row, filter.trim()))),
    [state.lines, filter],
  );
  const first = Math.max(0, Math.min(rows.length - 1, Math.floor(top / ROW)) - 4);

  const check = async (): Promise<void> => {
    await model.readLedger();
    setVerdict('checking…');
    const lines = model.state.lines.map(({ text }) => text);
    const { linked, gaps, broken } = await chainOf(lines, sha256);
    const host = (await model.verify().catch(({ message }: Error) => ({ ok: false, why: message }))) as Record<string, unknown>; // biome-ignore format: one line
    const here =
      broken === undefined
        ? `In this browser: ${linked} lines follow the line before them${gaps === 0 ? '' : `, and in ${gaps} places lines of other granters are not shown`}.`
        : `In this browser: line ${broken} does NOT follow the line before it.`;
    setVerdict(`${here} The host says of its whole ledger: ${JSON.stringify(host)}`);
  };

  return (
    <section aria-labelledby="ledger-title">
      <h2 id="ledger-title">Ledger</h2>
      <div class="row">
        <label>
          Lines with{' '}
          <input
            type="search"
            autocomplete="off"
            value={filter}
            onInput={(event) => setFilter(event.currentTarget.value)}
          />
        </label>
        <span aria-live="polite">
          {rows.length} of {state.lines.length} lines
        </span>
        <button type="button" onClick={() => void model.readLedger()}>
          Read on
        </button>
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
      <div
        class="lines"
        role="region"
        aria-label="lines of the ledger"
        tabIndex={0}
        onScroll={(event) => setTop(event.currentTarget.scrollTop)}
      >
        <ol style={{ height: `${rows.length * ROW}px` }}>
          {rows.slice(first, first + SEEN + 8).map((row, at) => (
            <li key={row.seq} style={{ top: `${(first + at) * ROW}px` }}>
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

const factsOf = ({ session, grant, request }: LedgerRow): string =>
  [session, request, grant].flatMap((id) => (id === undefined ? [] : [shortId(id)])).join(' ');

interface OpenedProps {
  readonly row: LedgerRow;
  readonly lines: readonly LedgerRow[];
  readonly close: () => void;
}

/** A line, and those about the same request or grant: what was asked, what was answered, what was done. */
function Opened({ row, lines, close }: OpenedProps): JSX.Element {
  const related = lines.filter(
    (line) =>
      line.seq !== row.seq &&
      ((row.request !== undefined && line.request === row.request) ||
        (row.grant !== undefined && line.grant === row.grant)),
  );
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
      {related.length > 0 && (
        <>
          <h4>The same request or grant</h4>
          <ol class="related">
            {related.slice(0, 50).map((line) => (
              <li key={line.seq}>
                {`E${line.seq} `}
                <Text of={`${line.kind} ${factsOf(line)}`} exact />
              </li>
            ))}
          </ol>
          {related.length > 50 && <p>{related.length - 50} more</p>}
        </>
      )}
    </aside>
  );
}

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2);
  } catch {
    return text;
  }
}
