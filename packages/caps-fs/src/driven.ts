/**
 * The methods of a cap for calls by reference, so that each session that calls it has a share of its own.
 *
 * A call under a grant belongs to the session that pays for it. In a program without sessions it belongs to its
 * grants. Any other call is the program's that opened the root.
 *
 * Promise: a cap ends by the call of its maker. `close` by anybody else ends the cap for that caller, with all that
 * the caller made from it, and nothing that others hold.
 */
import type { DriverCall } from '@hob/vat';
import { refusal } from './base/errors.ts';
import type { FsCap } from './base/fs-cap.ts';
import type { HeldDirectory } from './root/held-directory.ts';
import type { Holder } from './root/holder.ts';
import type { Life } from './root/life.ts';

type Method = (...args: readonly unknown[]) => unknown;
type Driven = Readonly<Record<string, (args: readonly unknown[], call: DriverCall) => unknown>>;
type Caller = Pick<HeldDirectory, 'holder' | 'maker'>;

/** The meter of a program without sessions. */
const programs = 'host';
// Grants have no end that is told here. Beyond this their shares begin anew.
const maxGrants = 1_024;

const grantsOf = ({ cause }: DriverCall): string => cause.join(' ');

export function drivenMethods(
  own: FsCap,
  { holder, maker }: HeldDirectory,
  life: Life,
  methodsFor: (caller: Caller) => FsCap,
): Driven {
  const holders = new WeakMap<object, Holder>();
  const byGrants = new Map<string, FsCap>();
  const ended = new Set<string>();

  const holderOf = ({ meter }: DriverCall): Holder => {
    if (meter.name === programs) return holder.below();
    const known = holders.get(meter) ?? holder.below();
    holders.set(meter, known);
    return known;
  };
  const methodsOf = (call: DriverCall): FsCap => {
    const grants = grantsOf(call);
    if (grants === '') return own;
    if (ended.has(grants)) throw refusal('CLOSED');
    const known = byGrants.get(grants);
    if (known) return known;
    const made = methodsFor({ holder: holderOf(call), maker: grants });
    if (byGrants.size >= maxGrants) byGrants.clear();
    byGrants.set(grants, made);
    return made;
  };
  const close = (call: DriverCall): Promise<unknown> => {
    const grants = grantsOf(call);
    if (grants === '' || grants === maker) return own.close();
    if (ended.size >= maxGrants) ended.clear();
    ended.add(grants);
    return life.closeMadeBy(grants);
  };

  const driven: Record<string, Driven[string]> = {};
  for (const name of Object.keys(own))
    driven[name] = (args, call) => (methodsOf(call) as unknown as Readonly<Record<string, Method>>)[name]?.(...args);
  driven['close'] = (_args, call) => close(call);
  return driven;
}
