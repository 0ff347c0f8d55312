/**
 * The firewall of a manifest, before all calls of the host that serves it.
 *
 * Promise: it only makes stricter. An object that two caps lead to has the higher sensitivity of the two. A layer of
 * one session cannot change it, because it is one for the whole host.
 */
import { type FirewallOptions, makeFirewall, type Sensitivity } from '@hob/firewall';
import type { CallFirewall } from '@hob/host';
import type { Plan, PlannedCap } from '@hob/manifest';
import { Mistake } from '../line/mistake.ts';

/** A firewall, and what it has to be told. */
export interface ServedFirewall {
  /** Undefined: no call is assessed. */
  readonly firewall: CallFirewall | undefined;
  /** A cap of some session leads to this offer. */
  readonly offered: (offer: string, cap: PlannedCap) => void;
}

/** The firewall that a plan asks for. */
export function servedFirewall({ firewall }: Plan): ServedFirewall {
  if (firewall === undefined) return { firewall: undefined, offered: () => {} };
  const sensitivities = new Map<string, Sensitivity>();
  const options: FirewallOptions = { mode: firewall.mode, sensitivity: (offer) => sensitivities.get(offer) };
  return {
    firewall: makeFirewall(options),
    offered(offer, { terms: { sensitivity = 'ordinary' } }) {
      const known = sensitivities.get(offer);
      if (known === undefined || order.indexOf(sensitivity) > order.indexOf(known))
        sensitivities.set(offer, sensitivity);
    },
  };
}

const order: readonly Sensitivity[] = ['scratch', 'ordinary', 'high'];

/** Errors: `Mistake`, if the plan of one session has another firewall than the host. */
export function sameFirewall(host: Plan, session: Plan): void {
  if (JSON.stringify(host.firewall) !== JSON.stringify(session.firewall))
    throw new Mistake('firewall: it holds for the whole host, so a layer of one session cannot change it: write it in a manifest that hob serve reads'); // biome-ignore format: one line
}
