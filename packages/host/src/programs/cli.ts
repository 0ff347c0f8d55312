/**
 * `npm run hob -- …`: a granter's commands. They go through the running host and present the granter's secret, which is asked
 * for on the terminal, or read as the first line of standard input where that is none.
 */
import './lockdown.ts';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Terms } from '@hob/revocable';
import {
  CapError,
  type Connected,
  checkpointsIn,
  connect,
  E,
  exportLedger,
  type Far,
  openStore,
  openVats,
  retainLedger,
  type Store,
  verifyLedger,
} from '@hob/vat';
import { askSecret, askYes, atTerminal } from '../drivers/ask.ts';
import { readText, writeLines } from '../drivers/export-file.ts';
import { end, holdsState } from '../drivers/life.ts';
import { openSecretFile } from '../drivers/secrets.ts';
import { isState, orderStop, readNote, removeNote, stopOrder } from '../drivers/state-dir.ts';
import { sentinelHome } from '../drivers/state-home.ts';
import { out, outText, say, sayText } from '../drivers/terminal.ts';
import type { Grant, Granter } from '../granters/grants.ts';
import { type Given, type Name, readLine } from './command-line.ts';
import { approve, refuse, showRequest, showRequests } from './commands.ts';

let state = '';

const runs: Readonly<Record<Name, (given: Given) => Promise<number>>> = {
  grants: () => withGranter((granter) => show((after) => E(granter).list({ live: true, ...after }), 'no live grants')),
  revoke: ({ operands: [id = ''] }) => withGranter((granter) => revoke(granter, id)),
  requests: () => withGranter((granter) => showRequests(granter, out)),
  request: ({ operands: [id = ''] }) => withGranter((granter) => showRequest(granter, id, out)),
  approve({ options, operands: [id = '', digest = ''] }) {
    const terms = termsGiven(options);
    return withGranter((granter) => approve(granter, { id, digest, terms, wall: Date.now() }, agree, out));
  },
  refuse: ({ options, operands: [id = '', ...why] }) =>
    withGranter((granter) => refuse(granter, id, why.join(' '), options['lasting'] === true, out)),
  'sturdyref mint'({ options, operands: [session = '', petname = ''] }) {
    const terms = termsGiven(options);
    const secretTo = secretOutlet(options);
    return withGranter((granter) => mintSturdyref(granter, session, petname, terms, secretTo));
  },
  'sturdyref list': () => withGranter((granter) => show((after) => E(granter).sturdyrefs(after), 'no sturdyrefs')),
  'sturdyref rotate'({ options, operands: [id = ''] }) {
    const secretTo = secretOutlet(options);
    return withGranter(async (granter) => {
      await secretTo(async () => (await E(granter).rotate(id)).sturdyref);
      return 0;
    });
  },
  trust: ({ operands }) => withGranter((granter) => trust(granter, operands)),
  stop: ({ options: { wait = '10' } }) => stop(Number(wait) * 1000),
  'ledger verify': ({ options, operands: [file] }) => verify(file, options),
  'ledger export': ({ operands: [file] }) => exportAll(file),
  'ledger retain': ({ options }) => retain(options),
};

async function main(args: readonly string[]): Promise<number> {
  const line = readLine(args);
  if ('usage' in line) {
    if (line.wrong !== undefined) say(`hob: ${line.wrong}`);
    (line.help ? outText : sayText)(line.usage);
    return line.help ? 0 : 2;
  }
  const { options } = line.given;
  state = resolve(String(options['state'] ?? fileURLToPath(new URL('../../../../.hob', import.meta.url))));
  return runs[line.name](line.given);
}

/** At a terminal a person sees what a yes does before they say it. */
async function agree(lines: readonly string[]): Promise<boolean> {
  if (!atTerminal()) return true;
  for (const line of lines) say(line);
  return askYes('Approve? (yes or no) ');
}

async function withGranter(act: (granter: Far<Granter>) => Promise<number>): Promise<number> {
  const note = readNote(state);
  if (note === undefined)
    throw new CapError(
      'unavailable',
      'no host is running on this state: start one with npm start, or name its folder with --state',
    );
  const secret = await askSecret('Granter’s secret (npm start shows it when it is made): ');
  if (secret === '') throw new CapError('denied', 'no secret was given: type it, or pipe it in as the first line');
  const connection: Connected<Granter> = await connect<Granter>(note.url, { secret });
  try {
    return await act(connection.bootstrap);
  } finally {
    connection.close();
    await connection.closed;
  }
}

type Page = (after: { readonly after?: string }) => Promise<readonly Grant[]>;

/** All of them, page by page. */
async function* allOf(page: Page): AsyncGenerator<Grant> {
  for (let after: string | undefined; ; ) {
    const grants = await page(after === undefined ? {} : { after });
    yield* grants;
    after = grants.at(-1)?.id;
    if (after === undefined) return;
  }
}

async function show(page: Page, none: string): Promise<number> {
  let shown = 0;
  for await (const grant of allOf(page)) {
    out(line(grant));
    shown += 1;
  }
  if (shown === 0) out(none);
  return 0;
}

function line({ id, session, petname, state, usesLeft, until }: Grant): string {
  const uses = usesLeft === undefined ? 'any number of uses' : `${usesLeft} ${usesLeft === 1 ? 'use' : 'uses'} left`;
  const left = state === 'live' ? `${uses}  ${timeLeft(until)} left` : state;
  // Others chose these names: the host's own words stand outside the quotes.
  return `${id}  “${session}”  “${petname}”  ${left}`;
}

function timeLeft(until: number): string {
  const minutes = Math.max(0, Math.ceil((until - Date.now()) / 60_000));
  if (minutes < 120) return `${minutes} min`;
  const hours = Math.ceil(minutes / 60);
  return hours < 48 ? `${hours} h` : `${Math.ceil(hours / 24)} days`;
}

async function revoke(granter: Far<Granter>, id: string): Promise<number> {
  await E(granter).revoke({ grant: id }, 'from the command line');
  out(`revoked ${id}`);
  return 0;
}

/** Read before a secret is asked for. Errors: `invalid`. */
function termsGiven({ uses, for: minutes, until, methods }: Given['options']): Terms {
  const day = until === undefined ? undefined : Date.parse(String(until));
  if (day !== undefined && Number.isNaN(day)) throw new CapError('invalid', '--until takes a date: 2027-01-31');
  if (minutes !== undefined && day !== undefined) throw new CapError('invalid', 'give --for or --until, not both');
  return {
    ...(uses === undefined ? {} : { uses: aboveZero('--uses', String(uses), /^\d{1,15}$/) }),
    ...(minutes === undefined ? {} : { for: aboveZero('--for', String(minutes), /^\d{1,9}(?:\.\d{1,9})?$/) * 60_000 }),
    ...(day === undefined ? {} : { until: day }),
    ...(methods === undefined ? {} : { methods: String(methods).split(',') }),
  };
}

function aboveZero(option: string, given: string, form: RegExp): number {
  const number = form.test(given) ? Number(given) : 0;
  if (number <= 0)
    throw new CapError(
      'invalid',
      `${option} takes a ${option === '--uses' ? 'whole number' : 'number of minutes'} above 0`,
    );
  return number;
}

async function mintSturdyref(
  granter: Far<Granter>,
  session: string,
  petname: string,
  terms: Terms,
  secretTo: SecretTo,
): Promise<number> {
  await secretTo(async () => {
    const { grant, sturdyref } = await E(granter).mint(session, petname, terms);
    out(line(grant));
    return sturdyref;
  });
  return 0;
}

/** Makes a secret and hands it over: nothing is made where it could not be. */
type SecretTo = (make: () => Promise<string>) => Promise<void>;

/** To the file that was named, or to a terminal: a pipe may lead anywhere. Errors: `invalid`. */
function secretOutlet({ 'secret-to': file }: Given['options']): SecretTo {
  if (file === undefined && process.stdout.isTTY !== true)
    throw new CapError('invalid', 'a secret is shown on a terminal only: name a new file for it with --secret-to FILE');
  return async (make) => {
    if (file === undefined) return out(await make());
    const outlet = openSecretFile(resolve(String(file)));
    let secret: string;
    try {
      secret = await make();
    } catch (error) {
      outlet.abandon();
      throw error;
    }
    outlet.write(secret);
  };
}

/** Uses may have been spent, and grants revoked, in what the store lost: so each is looked at by a person. */
async function trust(granter: Far<Granter>, ids: readonly string[]): Promise<number> {
  const waiting: Grant[] = [];
  for await (const grant of allOf((after) => E(granter).list(after)))
    if (grant.state === 'suspended') waiting.push(grant);
  const chosen = ids.length === 1 && ids[0] === 'all' ? waiting.map(({ id }) => id) : ids;
  for (const id of chosen) {
    await E(granter).confirm(id);
    out(`${id} goes on`);
  }
  if (ids.length > 0) return 0;
  for (const grant of waiting) out(`${line({ ...grant, state: 'live' })}, waits`);
  out(
    waiting.length === 0
      ? 'no grant of yours waits: the store was not put back, or they were confirmed'
      : 'the store was put back to an earlier state: what was spent or revoked since may be missing. See each, then: trust ID …, or trust all',
  );
  return 0;
}

/** The order is on the disk before the process hears of it: whatever becomes of that, what was granted is over. */
async function stop(ms: number): Promise<number> {
  if (!(ms >= 0 && ms <= 3_600_000)) throw new CapError('invalid', '--wait takes a number of seconds');
  if (!isState(state)) throw new CapError('unavailable', 'that is no state of a host: name its folder with --state');
  orderStop(state, 'hob stop');
  const later = 'every grant is revoked before anything else happens when a host is started on this state again';
  const note = readNote(state);
  if (note === undefined || !holdsState(note.pid, state)) {
    // One that is just starting has its note later, and may have looked for orders before this one.
    out(`no host is running on this state: ${later}`);
    return 0;
  }
  const how = await end(note.pid, state, ms);
  removeNote(state);
  if (stopOrder(state) === undefined) out('stopped: every grant is revoked');
  else out(`${how === 'killed' ? 'the host did not answer and was killed' : 'the host has ended'}: ${later}`);
  return 0;
}

async function verify(file: string | undefined, options: Given['options']): Promise<number> {
  const { against: kept } = options;
  const against = typeof kept === 'string' ? checkpointsIn(readText(resolve(kept))) : undefined;
  if (against?.length === 0)
    throw new CapError('invalid', 'that file holds no checkpoint: name the one that npm start --checkpoints writes');
  const checks = against === undefined ? {} : { against };
  if (file !== undefined) return tell(await verifyLedger({ file: resolve(file) }, checks));
  if (isRunning())
    return withGranter(async (granter) => {
      const ledger = E(E(granter).ledger());
      // Those before them vouch for less.
      return tell(await (against === undefined ? ledger.verify() : ledger.verify(against.slice(-mostAgainst))));
    });
  // Also a state on which no host starts, since its ledger is not whole.
  return withStore(options, true, async (store) => tell(await verifyLedger(store, checks)));
}

function isRunning(): boolean {
  const note = readNote(state);
  return note !== undefined && holdsState(note.pid, state);
}

/** Of a state on which no host runs. */
async function withStore<R>(options: Given['options'], look: boolean, act: (store: Store) => Promise<R>): Promise<R> {
  if (!isState(state)) throw new CapError('unavailable', 'that is no state of a host: name its folder with --state');
  const { sentinel = sentinelHome() } = options;
  const where = { path: state, look, ...(typeof sentinel === 'string' ? { sentinel: resolve(sentinel) } : {}) };
  const store = await openStore(where);
  try {
    return await act(store);
  } finally {
    await store.close();
  }
}

async function retain(options: Given['options']): Promise<number> {
  const { days: given, by = 'operator' } = options;
  const days = Number(given);
  if (!Number.isInteger(days) || days < 1 || days > 100_000)
    throw new CapError('invalid', 'say how many days of the ledger stay: --days N, a whole number from 1 to 100,000');
  if (isRunning())
    throw new CapError('unavailable', 'a host is running on this state: end its process first (Ctrl-C, SIGTERM)');
  // Looked at first: opening it for writing would count as a state that was put back where its sentinel is not found.
  const verdict = await withStore(options, true, (store) => verifyLedger(store));
  if (!verdict.ok) return tell(verdict);
  if (verdict.putBack !== undefined)
    throw new CapError(
      'unavailable',
      'the sentinel of this state is not where it is looked for, or the state was put back: name its folder with --sentinel DIR, or start the host first',
    );
  const done = await withStore(options, false, async (store) => {
    const vats = await openVats({ store });
    try {
      return await retainLedger(store, { before: Date.now() - days * 86_400_000, by: String(by) });
    } finally {
      await vats.close();
    }
  });
  out(
    done.dropped === 0
      ? `nothing was dropped: no checkpoint is older than ${days} ${days === 1 ? 'day' : 'days'}`
      : `dropped ${done.dropped} lines: the ledger goes on from line ${done.from}. Their room in the store is used again`,
  );
  return 0;
}

/** As many as one frame takes. */
const mostAgainst = 500;

function tell(verdict: {
  readonly ok: boolean;
  readonly lines: number;
  readonly badLine?: number;
  readonly why?: string;
  readonly checkpoints: number;
  readonly signed: number;
  readonly dropped?: { readonly to: number; readonly by: string; readonly t: number };
}): number {
  out(
    verdict.ok
      ? `the ledger is whole: ${verdict.lines} lines`
      : `the ledger is NOT whole: line ${verdict.badLine ?? '?'}: ${verdict.why ?? 'unknown'}`,
  );
  const { checkpoints: count, signed, dropped } = verdict;
  if (dropped !== undefined)
    out(`lines 2 to ${dropped.to} were dropped by "${dropped.by}" on ${new Date(dropped.t).toISOString()}`);
  out(`${count} signed ${count === 1 ? 'checkpoint' : 'checkpoints'}: the host vouches for the first ${signed} lines`);
  return verdict.ok ? 0 : 1;
}

async function exportAll(file: string | undefined): Promise<number> {
  if (isRunning()) return withGranter((granter) => exportLines(granter, file));
  return withStore({}, true, (store) => write(file, exportLedger(store)));
}

async function exportLines(granter: Far<Granter>, file: string | undefined): Promise<number> {
  const ledger = await E(granter).ledger();
  async function* lines(): AsyncGenerator<string> {
    for (let from = 1; ; ) {
      const page = (await E(ledger).lines(from)) as readonly string[];
      yield* page;
      const last = page.at(-1);
      if (last === undefined) return;
      // Between them may be lines of sessions of other granters, which are not shown.
      from = (JSON.parse(last) as { readonly seq: number }).seq + 1;
    }
  }
  return write(file, lines());
}

async function write(file: string | undefined, lines: AsyncIterable<string>): Promise<number> {
  const count = await writeLines(file === undefined ? undefined : resolve(file), lines);
  if (file !== undefined) out(`wrote ${count} lines`);
  return 0;
}

main(process.argv.slice(2)).then(
  (code) => process.exit(code),
  (error: unknown) => {
    say(`hob: ${error instanceof CapError ? error.message : `something went wrong: ${String(error)}`}`);
    process.exit(1);
  },
);
