/**
 * `npm run hob -- …`: a granter's commands. They go through the running host and present the granter's
 * secret, which is asked for on the terminal, or read as the first line of standard input where that is none.
 */
import './lockdown.ts';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Terms } from '@hob/revocable';
import { CapError, connect, E, type Far, type LedgerVerdict, verifyLedger } from '@hob/vat';
import type { Connected } from '@hob/vat/wire';
import { writeLines } from '../drivers/export-file.ts';
import { holderOf } from '../drivers/life.ts';
import { askSecret, atTerminal, confirm } from '../drivers/prompt.ts';
import { readAddress } from '../drivers/state-dir.ts';
import { out, say } from '../drivers/terminal.ts';
import type { Granter } from '../granters/grants.ts';
import type { Grant } from '../granters/own-rows.ts';
import { type CommandArgs, type CommandName, parseLine } from './command-line.ts';
import { approve, refuse, showRequest, showRequests } from './commands.ts';
import { endOf } from './end-of.ts';
import { allOf, grantLine, linesOf, type Page, verdictLines } from './listings.ts';
import { type AtRest, checkpointsOf, exportAtRest, retainAtRest, verifyAtRest } from './shared/at-rest.ts';
import { mintSturdyref, rotateSturdyref, type SecretTo, secretOutlet } from './shared/sturdyrefs.ts';
import { stopHost } from './stop-host.ts';

let state = '';
/** The address of the host, where it was given. */
let url: string | undefined;

const runs: Readonly<Record<CommandName, (given: CommandArgs) => Promise<number>>> = {
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
    const secretTo = outletOf(options);
    return withGranter(async (granter) => {
      await mintSturdyref(granter, { session, petname, terms }, secretTo, out);
      return 0;
    });
  },
  'sturdyref list': () => withGranter((granter) => show((after) => E(granter).sturdyrefs(after), 'no sturdyrefs')),
  'sturdyref rotate'({ options, operands: [id = ''] }) {
    const secretTo = outletOf(options);
    return withGranter(async (granter) => {
      await rotateSturdyref(granter, id, secretTo);
      return 0;
    });
  },
  trust: ({ operands }) => withGranter((granter) => trust(granter, operands)),
  stop: ({ options: { wait = '10' } }) => stopHost(state, Number(wait) * 1000, out),
  'ledger verify': ({ options, operands: [file] }) => verify(file, options),
  'ledger export': ({ operands: [file] }) => exportAll(file),
  'ledger retain': ({ options }) => retain(options),
};

async function main(args: readonly string[]): Promise<number> {
  const line = parseLine(args);
  const { options } = line.args;
  state = resolve(String(options['state'] ?? fileURLToPath(new URL('../../../../.hob', import.meta.url))));
  url = options['url'] === undefined ? undefined : hostUrl(String(options['url']));
  return runs[line.name](line.args);
}

/** Errors: `invalid`. */
function hostUrl(text: string): string {
  if (!/^(?:wss?|ws\+unix):$/.test(URL.parse(text)?.protocol ?? ''))
    throw new CapError('invalid', '--url takes the address that the host prints: ws://127.0.0.1:PORT');
  return text;
}

/** At a terminal, a person sees the effect of an approval before giving it. */
async function agree(lines: readonly string[]): Promise<boolean> {
  if (!atTerminal()) return true;
  for (const line of lines) say(line);
  return confirm('Approve? (yes or no) ');
}

async function withGranter(act: (granter: Far<Granter>) => Promise<number>): Promise<number> {
  const address = url ?? addressOfHost();
  const secret = await askSecret('Granter’s secret (npm start shows it when it is made): ');
  if (secret === '') throw new CapError('denied', 'no secret was given: type it, or pipe it in as the first line');
  const connection: Connected<Granter> = await connect<Granter>(address, { secret });
  try {
    return await act(connection.bootstrap);
  } catch (error) {
    // A session and a sturdyref are let in, too, and have none of a granter's methods.
    if ((error as CapError).code !== 'no-such-method') throw error;
    throw new CapError(
      'denied',
      'this is the secret of a session or a sturdyref, and not a granter’s: give the one that was shown for the granter',
    );
  } finally {
    connection.close();
    await connection.closed;
  }
}

/**
 * The address that the host noted. Without a host the note is of one that was killed, and its port may be another
 * program's by now, which must not be told the secret.
 */
function addressOfHost(): string {
  const holder = holderOf(state);
  if (holder === 'nobody')
    throw new CapError(
      'unavailable',
      'no host is running on this state: start one with npm start, or name its folder with --state, or its address with --url',
    );
  const note = readAddress(state);
  if (note === undefined)
    throw new CapError(
      'unavailable',
      `process ${holder.pid ?? '?'} has this state open and listens nowhere: let it call host.serve()`,
    );
  return note.url;
}

async function show(page: Page, none: string): Promise<number> {
  let shown = 0;
  for await (const grant of allOf(page)) {
    out(grantLine(grant));
    shown += 1;
  }
  if (shown === 0) out(none);
  return 0;
}

async function revoke(granter: Far<Granter>, id: string): Promise<number> {
  await E(granter).revoke({ grant: id }, 'from the command line');
  out(`revoked ${id}`);
  return 0;
}

/** Read before a secret is asked for. Errors: `invalid`. */
function termsGiven({ uses, for: minutes, until, methods }: CommandArgs['options']): Terms {
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

const outletOf = ({ secretTo: file }: CommandArgs['options']): SecretTo =>
  secretOutlet(file === undefined ? undefined : resolve(String(file)), process.stdout.isTTY === true, out);

/** The restored store may have lost spent uses and revocations, so a person looks at each grant. */
async function trust(granter: Far<Granter>, ids: readonly string[]): Promise<number> {
  const waiting: Grant[] = [];
  for await (const grant of allOf((after) => E(granter).list(after)))
    if (grant.state === 'suspended') waiting.push(grant);
  const chosen = ids.length === 1 && ids[0] === 'all' ? waiting.map(({ id }) => id) : ids;
  for (const id of chosen) {
    await E(granter).confirm(id);
    out(`${id} is confirmed`);
  }
  if (ids.length > 0) return 0;
  for (const grant of waiting) out(`${grantLine({ ...grant, state: 'live' })}, suspended`);
  out(
    waiting.length === 0
      ? 'no grant of yours is suspended: the store was not restored to an earlier state, or the grants were confirmed'
      : 'the store was restored to an earlier state: it may not know what was spent or revoked since. Look at each grant, then run: trust ID …, or trust all',
  );
  return 0;
}

async function verify(file: string | undefined, options: CommandArgs['options']): Promise<number> {
  const { against: kept } = options;
  const against = typeof kept === 'string' ? checkpointsOf(resolve(kept)) : undefined;
  if (file !== undefined)
    return tell(await verifyLedger({ file: resolve(file) }, against === undefined ? {} : { against }));
  if (isRunning())
    return withGranter(async (granter) => {
      const ledger = E(E(granter).ledger());
      // Those before them vouch for less.
      return tell(await (against === undefined ? ledger.verify() : ledger.verify(against.slice(-mostAgainst))));
    });
  // Also a state on which no host starts, since its ledger is not whole.
  return tell(await verifyAtRest(atRest(options), against));
}

/** Whether some process has the state open. Then only that one can be asked. */
const isRunning = (): boolean => url !== undefined || holderOf(state) !== 'nobody';

const atRest = ({ sentinel }: CommandArgs['options']): AtRest => ({
  state,
  ...(typeof sentinel === 'string' ? { sentinel: resolve(sentinel) } : {}),
});

function retain(options: CommandArgs['options']): Promise<number> {
  const { days, by = 'operator' } = options;
  if (url !== undefined)
    throw new CapError('invalid', 'lines are dropped from a state: name it with --state, and leave --url out');
  return retainAtRest(atRest(options), { days: Number(days), by: String(by), wall: Date.now() }, out);
}

/** As many as one frame takes. */
const mostAgainst = 500;

function tell(verdict: LedgerVerdict): number {
  for (const line of verdictLines(verdict)) out(line);
  return verdict.ok ? 0 : 1;
}

async function exportAll(file: string | undefined): Promise<number> {
  if (isRunning()) return withGranter((granter) => exportLines(granter, file));
  return exportAtRest(atRest({}), (lines) => write(file, lines));
}

async function exportLines(granter: Far<Granter>, file: string | undefined): Promise<number> {
  return write(file, linesOf(granter));
}

async function write(file: string | undefined, lines: AsyncIterable<string>): Promise<number> {
  const count = await writeLines(file === undefined ? undefined : resolve(file), lines);
  if (file !== undefined) out(`wrote ${count} lines`);
  return 0;
}

main(process.argv.slice(2)).then(
  (code) => process.exit(code),
  (error: unknown) => process.exit(endOf(error)),
);
