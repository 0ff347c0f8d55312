/**
 * Caps of another host, as objects that this host offers. So agents here use a directory of another machine.
 *
 * Promise: this host is an agent of the other one. It has the caps of one session there, under the grants that people
 * made there, and both ledgers have a line for each call. While the other host is not connected, calls break with
 * `unavailable` and cost no use. A call that was under way when the connection was lost breaks with `unknown-outcome`.
 * When a grant here ends, its calls there are cancelled, and the revoker waits at most 3 s for that.
 */
import { isData } from '@hob/revocable';
import { CapError, type Clock, connect, E, type Far, systemClock, systemRandom } from '@hob/vat';
import { base32, drivenBy, type OptionNames, takeOptions } from '@hob/vat/forwarder';
import type { SessionFace } from '../sessions/sessions.ts';

/** Options of `openOtherHost`. */
export interface OtherHostOptions {
  /** The address of the other host, as it prints it. */
  readonly url: string;
  /** The secret of a session there. Each host needs a session of its own: a new connection replaces the one before. */
  readonly secret: string;
  /** The certificate (PEM) that signed that of the other host. Default: the authorities that Node knows. */
  readonly ca?: string;
  readonly clock?: Clock;
}

/** A session at another host. It is entered again whenever the connection is lost. `await using` leaves it. */
export interface OtherHost extends AsyncDisposable {
  readonly connected: boolean;
  /** The code of the error with which it could not be entered. Undefined while it is connected. */
  readonly failure: string | undefined;
  /**
   * Returns an object for `host.offer`. It stands for the cap with this petname that the session there holds, and passes
   * on calls of `methods`. Errors: `invalid`.
   */
  cap(petname: string, methods: readonly string[]): object;
  close(): Promise<void>;
}

/** The pause before the session is entered again, in ms. Each further one doubles it. */
const PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5000;
/** The other host has this time to confirm that a call was cancelled, in ms. */
const CANCEL_MS = 3000;

const names: OptionNames<OtherHostOptions> = { url: true, secret: true, ca: true, clock: true };

/**
 * Enters a session at another host. Resolves after the first attempt, also if that failed: it is tried again until
 * `close`. Errors: `invalid`.
 */
export async function openOtherHost(given: OtherHostOptions): Promise<OtherHost> {
  const options = takeOptions(given, 'openOtherHost', names);
  if (typeof options.url !== 'string' || typeof options.secret !== 'string')
    throw new CapError('invalid', 'openOtherHost takes the url of a host, and the secret of a session there');
  const other = new LiveOtherHost(options);
  await other.tried;
  return other;
}

type Session = Far<SessionFace>;
type Methods = Readonly<Record<string, (...args: readonly unknown[]) => Promise<unknown>>>;

const away = (): CapError =>
  new CapError('unavailable', 'the machine that has this is not connected now: try again later');
const lost = (): CapError =>
  new CapError('unknown-outcome', 'the machine that does this was lost during the call: look before you repeat it');

class LiveOtherHost implements OtherHost {
  /** Resolves after the first attempt to enter. */
  readonly tried: Promise<void>;
  readonly #options: OtherHostOptions;
  readonly #clock: Clock;
  readonly #over: Promise<void>;
  #session: Session | undefined;
  #failure: string | undefined;
  #leave: () => void = () => {};
  #isClosed = false;
  readonly #closing = Promise.withResolvers<undefined>();

  constructor(options: OtherHostOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.tried = promise;
    this.#over = this.#stay(resolve);
  }

  get connected(): boolean {
    return this.#session !== undefined;
  }

  get failure(): string | undefined {
    return this.#failure;
  }

  cap(petname: string, methods: readonly string[]): object {
    if (typeof petname !== 'string' || !Array.isArray(methods) || methods.length === 0)
      throw new CapError('invalid', 'cap takes the name of a cap that the session holds, and a list of its methods');
    const act =
      (method: string) =>
      (args: readonly unknown[], { signal }: { readonly signal: AbortSignal }): Promise<unknown> =>
        this.#call({ cap: petname, method, args }, signal);
    const driven = Object.fromEntries(methods.map((method) => [method, act(method)]));
    // The host looks at the methods of an object that it offers, and shows files of a directory to a person.
    const shown = Object.freeze(Object.fromEntries(methods.map((method) => [method, () => {}])));
    return drivenBy(shown, driven, () => (this.#session === undefined ? away() : undefined));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#closing.resolve(undefined);
    this.#leave();
    await this.#over;
  }

  readonly [Symbol.asyncDispose]: OtherHost['close'] = () => this.close();

  async #call(
    { cap, method, args }: { readonly cap: string; readonly method: string; readonly args: readonly unknown[] },
    signal: AbortSignal,
  ): Promise<unknown> {
    const session = this.#session;
    if (session === undefined) throw away(); // it was lost between the check of the grant and this call
    // Only a call with an id can be cancelled, and then its arguments must be data.
    const call = isData(args) ? base32(systemRandom(20)) : undefined;
    const over = Promise.withResolvers<never>();
    let cancelled: Promise<void> | undefined;
    const cancel = (): void => {
      cancelled = call === undefined ? Promise.resolve() : this.#cancelThere(session, call);
      // A call there may never end. The revoker and the close of this host must not wait for it.
      void cancelled.then(() => over.reject(lost()));
    };
    signal.addEventListener('abort', cancel, { once: true });
    try {
      const asked =
        call === undefined
          ? (E(E(session).cap(cap)) as unknown as Methods)[method]?.(...args)
          : E(session).call({ call, cap, method, args });
      return await Promise.race([asked, over.promise]);
    } catch (error) {
      await cancelled;
      throw (error as { readonly code?: unknown }).code === 'disconnected' ? lost() : error;
    } finally {
      signal.removeEventListener('abort', cancel);
    }
  }

  /** Cancels a call at the other host. Resolves when that host has confirmed it, or after `CANCEL_MS`. */
  async #cancelThere(session: Session, call: string): Promise<void> {
    const late = Promise.withResolvers<void>();
    const stop = this.#clock.after(CANCEL_MS, late.resolve);
    await Promise.race([Promise.resolve(E(session).cancel(call)).catch(() => {}), late.promise]);
    stop();
  }

  /** Enters again and again, until it is closed. */
  async #stay(tried: () => void): Promise<void> {
    for (let pauses = 0; !this.#isClosed; pauses += 1) {
      if (await this.#enter(tried)) pauses = 0;
      if (!this.#isClosed) await this.#pause(Math.min(PAUSE_MS * 2 ** pauses, LONGEST_PAUSE_MS));
    }
  }

  /** Resolves when the connection has ended. Returns whether there was one. */
  async #enter(tried: () => void): Promise<boolean> {
    const { url, secret, ca } = this.#options;
    try {
      const entering = connect<SessionFace>(url, { secret, patienceMs: 0, ...(ca !== undefined && { ca }) });
      const entered = await Promise.race([entering, this.#closing.promise]);
      if (entered === undefined) {
        // The other host may not answer for long.
        entering.then(({ close }) => close()).catch(() => {});
        return false;
      }
      const { bootstrap, close, closed } = entered;
      this.#leave = close;
      if (this.#isClosed) close();
      [this.#session, this.#failure] = [bootstrap as Session, undefined];
      tried();
      await closed;
      this.#failure = 'disconnected';
      return true;
    } catch (error) {
      this.#failure = String((error as { readonly code?: unknown }).code ?? 'unavailable');
      return false;
    } finally {
      this.#session = undefined;
      tried();
    }
  }

  #pause(ms: number): Promise<void> {
    return new Promise((then) => {
      const cancel = this.#clock.after(ms, then);
      this.#leave = () => {
        cancel();
        then();
      };
    });
  }
}
