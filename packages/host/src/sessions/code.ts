/**
 * `code`: programs that a session's model writes, run over what the session holds.
 *
 * Promise: a program finds the caps of the session that runs it, by petname, as that session holds them, and no others: each call it makes
 * goes through the session's own grants (ledger, uses, deadlines, gates, revocation). Whoever was handed `code` runs over what they hold, not over
 * what the one above them does. The end of the grant kills what runs under it, and whoever ends it waits until that is gone.
 */
import { type Evaluation, type GuestLimits, type Guests, renderTypes } from '@hob/guest';
import { CapError, type DriverCall, drivenBy, type Far } from '@hob/vat';
import { sessionOf } from '../state/groups.ts';
import { lookOf } from '../state/names.ts';
import type { GrantRecord, HostTables } from '../state/records.ts';

/** What a session holds as `code`. */
export interface Code {
  /**
   * Starts a program: JavaScript, or TypeScript. It has `E`, the session's caps by petname (all of them in `caps`), `console`; its value is what it
   * returns. Errors: `limit` (as many as may run at once), `E_SANDBOX_UNAVAILABLE`, `invalid`.
   */
  run(source: string, options?: { readonly limits?: GuestLimits }): Promise<Program>;
  /** The same in one call, which answers at its end: under a grant of so many uses one use is one program. */
  evaluate(source: string, options?: { readonly limits?: GuestLimits }): Promise<Evaluation>;
  /** What a program finds, as TypeScript: for a model's context. */
  types(): Promise<string>;
}

/** A program on its way. */
export interface Program {
  /** What it prints, part by part; undefined at the end. */
  console(): Promise<Printed>;
  /** Its value, all that it printed, and what it used; breaks with what it failed with, and the line. */
  result(): Promise<Evaluation>;
  /** Answers when its process is gone. */
  abort(): Promise<void>;
}

export interface Printed {
  next(): Promise<string | undefined>;
  return(): Promise<void>;
}

/** What a program finds: the caps of a session. */
export interface Holdings {
  readonly session: string;
  readonly caps: Readonly<Record<string, Far<object>>>;
}

/** Programs of a session, and of those that it pays for, at once. */
const mostAtOnce = 8;

/** `holdings`: what the session holds that calls under these grants. */
export function codeCap(
  guests: () => Promise<Guests>,
  holdings: (cause: readonly string[]) => Promise<Holdings>,
): object {
  const running = new WeakMap<object, number>();

  const run = async (source: unknown, options: unknown, call: DriverCall): Promise<Program> => {
    if (typeof source !== 'string') throw new CapError('invalid', 'run takes the text of a program');
    const limits = limitsIn(options);
    const { caps } = await holdings(call.cause);
    const count = running.get(call.meter) ?? 0;
    if (count >= mostAtOnce)
      throw new CapError('limit', `${mostAtOnce} programs run already: wait for the result of one, or abort it`);
    running.set(call.meter, count + 1);
    const watch = call.watch();
    const over = (): void => {
      running.set(call.meter, (running.get(call.meter) ?? 1) - 1);
      watch.done();
    };
    try {
      const open = await guests();
      const signal = { signal: watch.signal };
      const job = open.start(source, {
        caps,
        meter: call.meter,
        ...(limits === undefined ? {} : { limits }),
        ...signal,
      });
      const outcome = job.result();
      // Before the end is told to whoever waits for it: the line is a part of it.
      const told = outcome.then(
        ({ usage }) => tell(call, source, 'ok', usage),
        ({ code, usage }: { readonly code?: string; readonly usage?: object }) =>
          tell(call, source, code ?? 'error', usage),
      );
      void told.catch(() => {}).then(over);
      // The words of its failure leave; what else is on that error is in this process only.
      const result = outcome.catch(({ code: why, message }: CapError): never => {
        throw new CapError(why, message);
      });
      result.catch(() => {});
      const printed: Printed = Object.freeze({
        next: () => job.console.next(),
        return: () => job.console.return(),
      });
      return Object.freeze({ console: async () => printed, result: () => result, abort: () => job.abort() });
    } catch (error) {
      over();
      throw error;
    }
  };

  const types = async (call: DriverCall): Promise<string> => await renderTypes((await holdings(call.cause)).caps);

  const code = {
    run: async () => noSession(),
    evaluate: async () => noSession(),
    types: async () => noSession(),
  };
  return drivenBy(code, {
    run: ([source, options], call) => run(source, options, call),
    evaluate: async ([source, options], call) => await (await run(source, options, call)).result(),
    types: (_args, call) => types(call),
  });
}

function tell(call: DriverCall, source: string, code: string, usage: object | undefined): Promise<void> {
  const [grant] = call.cause;
  return call.tell('result', { grant, method: 'run', code, ...(usage === undefined ? {} : { usage }) }, [source]);
}

function limitsIn(options: unknown): GuestLimits | undefined {
  if (options === undefined) return undefined;
  const shape = 'the options of run are a record such as {limits: {cpuMs: 1000}}';
  if (typeof options !== 'object' || options === null || Object.keys(options).some((key) => key !== 'limits'))
    throw new CapError('invalid', shape);
  const { limits } = options as { readonly limits?: unknown };
  if (limits !== undefined && (typeof limits !== 'object' || limits === null)) throw new CapError('invalid', shape);
  return limits as GuestLimits | undefined;
}

function noSession(): never {
  throw new CapError('denied', 'a program runs for a session, over what that holds: grant `code` to one');
}

/**
 * In a turn: what is held by the session that calls under these grants, `code` itself apart (a program needs no second one, and could start others
 * without end). Of several grants of `code` the outermost is the caller's own; the others are those that it hangs under.
 */
export function holdingsOf(book: HostTables, offer: string, cause: readonly string[]): Holdings {
  const grants = cause.flatMap((id) => book.grants.get(id) ?? []).filter(({ offered }) => offered === offer);
  const own: GrantRecord | undefined = grants[0];
  const room = own === undefined ? undefined : sessionOf(book, own.session);
  // A sturdyref of `code` is held by nobody: it would open all that its session holds to whoever has that text.
  if (own === undefined || room?.held.get(lookOf(own.petname))?.grant !== own.id) noSession();
  const caps: Record<string, Far<object>> = {};
  for (const [, { petname, cap, grant }] of room.held.entries())
    if (book.grants.get(grant)?.offered !== offer) caps[petname] = cap as Far<object>;
  return { session: room.id, caps };
}
