/**
 * `code`: runs programs that a session's model writes, over the caps of that session.
 *
 * Promise: a program finds the caps of the session that runs it, by petname, and no others. Each call goes
 * through the session's own grants, with their ledger lines, uses, deadlines, gates and revocation. A child
 * session that was given `code` runs programs over its own caps, not over its parent's. The end of the
 * grant kills its programs, and whoever ends the grant waits until they are gone.
 */
import type { Evaluation, GuestLimits, Guests } from '@hob/guest';
import { CapError, type DriverCall, type Far } from '@hob/vat';
import { drivenBy, takeOptions } from '@hob/vat/forwarder';
import { sessionOf } from '../state/groups.ts';
import { skeletonOf } from '../state/names.ts';
import type { GrantRecord, HostTables } from '../state/records.ts';

/** The cap that a session holds as `code`. */
export interface Code {
  /**
   * Starts a program in JavaScript or TypeScript. It has `E`, `console`, and the session's caps by petname
   * (all of them in `caps`). Its value is what it returns. Errors: `limit` (too many programs at once),
   * `E_SANDBOX_UNAVAILABLE`, `invalid`.
   */
  run(source: string, options?: { readonly limits?: GuestLimits }): Promise<CodeRun>;
  /** Runs a program and returns its result in one call. Under a grant of N uses, one use is one program. */
  evaluate(source: string, options?: { readonly limits?: GuestLimits }): Promise<Evaluation>;
  /** The caps that a program finds, as TypeScript declarations for a model's context. */
  types(): Promise<string>;
}

/** A program that was started. */
export interface CodeRun {
  /** Its output, part by part. Undefined at the end. */
  console(): Promise<Printed>;
  /** Its value, its output and what it used. Rejects with the program's error and the line. */
  result(): Promise<Evaluation>;
  /** Resolves when its process is gone. */
  abort(): Promise<void>;
}

/**
 * The console output of a program as text, pulled by the reader. `next` resolves with undefined at the end;
 * `return` says that no more is wanted.
 */
export interface Printed {
  next(): Promise<string | undefined>;
  return(): Promise<void>;
}

/** The caps that a program finds. */
export interface SessionCaps {
  readonly session: string;
  readonly caps: Readonly<Record<string, Far<object>>>;
}

/** Programs at once of a session together with its child sessions. */
const mostAtOnce = 8;

/** Makes the cap. `capsFor` returns the caps of the session that calls under these grants. */
export function codeCap(
  guests: () => Promise<Guests>,
  capsFor: (cause: readonly string[]) => Promise<SessionCaps>,
): object {
  const running = new WeakMap<object, number>();

  const run = async (source: unknown, options: unknown, call: DriverCall): Promise<CodeRun> => {
    if (typeof source !== 'string') throw new CapError('invalid', 'run takes the text of a program');
    const limits = parseLimits(options);
    const { caps } = await capsFor(call.cause);
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
      // The ledger line is written before the result is given out.
      const told = outcome.then(
        ({ usage }) => logResult(call, source, 'ok', usage),
        ({ code, usage }: { readonly code?: string; readonly usage?: object }) =>
          logResult(call, source, code ?? 'error', usage),
      );
      void told.catch(() => {}).then(over);
      // Only the code and the message of the error leave this process.
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

  const types = async (call: DriverCall): Promise<string> => {
    // Loaded when it is needed: `@hob/guest` has the parser of JavaScript, and many hosts run no programs of agents.
    const { renderTypes } = await import('@hob/guest');
    return await renderTypes((await capsFor(call.cause)).caps);
  };

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

function logResult(call: DriverCall, source: string, code: string, usage: object | undefined): Promise<void> {
  const [grant] = call.cause;
  return call.tell('result', { grant, method: 'run', code, ...(usage === undefined ? {} : { usage }) }, [source]);
}

function parseLimits(options: unknown): GuestLimits | undefined {
  const { limits } = takeOptions<{ readonly limits?: unknown }>(options ?? undefined, 'run', { limits: true });
  if (limits !== undefined && (typeof limits !== 'object' || limits === null))
    throw new CapError('invalid', 'the options of run are a record such as {limits: {cpuMs: 1000}}');
  return limits as GuestLimits | undefined;
}

function noSession(): never {
  throw new CapError(
    'denied',
    'a program runs for a session, with the caps of that session: grant `code` to a session',
  );
}

/**
 * In a turn: returns the caps of the session that calls under these grants, without `code` itself. A
 * program needs no second `code`, and could start others without end. If several grants are of `code`, the
 * first is the caller's own, and the others are those above it.
 */
export function sessionCapsOf(tables: HostTables, offer: string, cause: readonly string[]): SessionCaps {
  const grants = cause.flatMap((id) => tables.grants.get(id) ?? []).filter(({ offered }) => offered === offer);
  const own: GrantRecord | undefined = grants[0];
  const session = own === undefined ? undefined : sessionOf(tables, own.session);
  // A sturdyref of `code` is in no c-list, so it runs nothing. Otherwise its bearer would get every cap of
  // the session.
  if (own === undefined || session?.held.get(skeletonOf(own.petname))?.grant !== own.id) noSession();
  const caps: Record<string, Far<object>> = {};
  for (const [, { petname, cap, grant }] of session.held.entries())
    if (tables.grants.get(grant)?.offered !== offer) caps[petname] = cap as Far<object>;
  return { session: session.id, caps };
}
