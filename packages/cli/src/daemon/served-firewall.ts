/**
 * The firewall of a manifest, before all calls of the host that serves it.
 *
 * Promise: it only makes stricter. An object that two caps lead to has the higher sensitivity of the two. A layer of
 * one session cannot change it, because it is one for the whole host.
 */
import { type FirewallOptions, type HookRunner, makeFirewall, type Sensitivity } from '@hob/firewall';
import type { CallFirewall } from '@hob/host';
import type { Plan, PlannedCap, PlannedHook } from '@hob/manifest';
import { Mistake } from '../line/mistake.ts';

/** A firewall, and what it has to be told. */
interface ServedFirewall {
  /** Undefined: no call is assessed. */
  readonly firewall: CallFirewall | undefined;
  /** A cap of some session leads to this offer. */
  readonly offered: (offer: string, cap: PlannedCap) => void;
  /**
   * The message of somebody else that the session works on, until it is over. What the session sends meanwhile is
   * judged with it.
   */
  readonly received: (session: string, text: string | undefined) => void;
}

/** The firewall that a plan asks for. `runnerOf` makes the runner of a hook. */
export function servedFirewall({ firewall }: Plan, runnerOf: (hook: PlannedHook) => HookRunner): ServedFirewall {
  if (firewall === undefined) return { firewall: undefined, offered: () => {}, received: () => {} };
  const messages = new Map<string, string>();
  const sensitivities = new Map<string, Sensitivity>();
  const capsOf = new Map<string, readonly string[]>();
  const hooks = (firewall.hooks ?? []).map((hook) => {
    const { name, on, caps, methods } = hook;
    // By the object, so that a grant of it under another name is looked at, too.
    const isOf = ({ offer }: { readonly offer: string }): boolean => capsOf.get(offer)?.some((cap) => caps?.includes(cap)) === true; // biome-ignore format: one line
    return { name, on, ...(caps && { caps: isOf }), ...(methods && { methods }), run: runnerOf(hook) };
  });
  const { mode, review = [], guardrails = {} } = firewall;
  const options: FirewallOptions = {
    mode,
    hooks,
    guardrails: {
      ...(guardrails.exact_failure && { exactFailure: guardrails.exact_failure }),
      ...(guardrails.same_method && { sameMethod: guardrails.same_method }),
      ...(guardrails.same_result && { sameResult: guardrails.same_result }),
    },
    sensitivity: (offer) => sensitivities.get(offer),
    incoming: (session) => messages.get(session),
    // If two caps lead to an object, both say so.
    review: (offer) => capsOf.get(offer)?.every((cap) => review.includes(cap)) === true,
  };
  return {
    firewall: makeFirewall(options),
    offered(offer, { name, terms: { sensitivity = 'ordinary' } }) {
      capsOf.set(offer, [...new Set([...(capsOf.get(offer) ?? []), name])]);
      const known = sensitivities.get(offer);
      if (known === undefined || order.indexOf(sensitivity) > order.indexOf(known))
        sensitivities.set(offer, sensitivity);
    },
    received(session, text) {
      if (text === undefined) messages.delete(session);
      else messages.set(session, text);
    },
  };
}

const order: readonly Sensitivity[] = ['scratch', 'ordinary', 'high'];

/** Errors: `Mistake`, if the plan of one session has another firewall than the host. */
export function sameFirewall(host: Plan, session: Plan): void {
  if (JSON.stringify(host.firewall) !== JSON.stringify(session.firewall))
    throw new Mistake('firewall: it holds for the whole host, so a layer of one session cannot change it: write it in a manifest that hob serve reads'); // biome-ignore format: one line
}
