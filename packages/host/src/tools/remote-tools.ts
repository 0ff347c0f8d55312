/**
 * An object of a connected program, as a driver of this host.
 *
 * Promise: the object lives as long as its connection. Afterwards its calls break with `unavailable` and cost no use, and
 * a call that was under way breaks with `unknown-outcome`. When a grant of a call ends, the program is told to cancel that call, and the
 * revoker waits until the program has confirmed it or its connection is gone.
 */
import { CapError, E, type Far } from '@hob/vat';
import { drivenBy } from '@hob/vat/forwarder';

/** The object that a program offers. It makes the calls of the program's tools. */
export interface RemoteTools {
  /** Calls a method. `number` names the call for `cancel`. */
  call(number: number, method: string, args: readonly unknown[]): Promise<unknown>;
  /** Cancels a call. The call itself confirms it, by ending. */
  cancel(number: number): void;
  /** Is fulfilled when the program withdraws the object. It rejects when the connection ends. */
  withdrawn(): Promise<void>;
}

const away = (): CapError =>
  new CapError('unavailable', 'the program that offers this is not connected: it works again when that program offers it again'); // biome-ignore format: one line
const lost = (): CapError =>
  new CapError('unknown-outcome', 'the program that does this was lost during the call: look before you repeat it');

/** An object for `host.offer`. */
export function remoteTools(tools: RemoteTools, methods: readonly string[]): object {
  const remote = E(tools as unknown as Far<RemoteTools>);
  const only = E.sendOnly(tools as unknown as Far<RemoteTools>);
  const state = { gone: false, calls: 0 };
  const end = (): void => {
    state.gone = true;
  };
  remote.withdrawn().then(end, end);
  const act =
    (method: string) =>
    async (args: readonly unknown[], { signal }: { readonly signal: AbortSignal }): Promise<unknown> => {
      if (state.gone) throw away(); // it left between the grant and this call
      state.calls += 1;
      const number = state.calls;
      const cancel = (): void => void only.cancel(number);
      signal.addEventListener('abort', cancel, { once: true });
      try {
        return await remote.call(number, method, args);
      } catch (error) {
        throw (error as { readonly code?: unknown }).code === 'disconnected' ? lost() : error;
      } finally {
        signal.removeEventListener('abort', cancel);
      }
    };
  const driven = Object.fromEntries(methods.map((method) => [method, act(method)]));
  return drivenBy({}, driven, () => (state.gone ? away() : undefined));
}
