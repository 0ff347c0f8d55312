/**
 * Which host serves which tenant.
 *
 * Promise: every host that sees the same hosts and tenants finds the same place. A tenant has one place, as long as a
 * host lives. A host that joins takes only its share. When a host leaves, only its own tenants move. A pinned
 * tenant is at its host while that host lives.
 *
 * Each host has a weight for each tenant, and the highest weight wins: rendezvous hashing (Thaler and Ravishankar, Using
 * Name-Based Mappings to Increase Hit Rates, 1998).
 */
import { sha256 } from '@hob/vat/forwarder';

/** The name of a tenant, and the host that it is pinned to. */
interface Placed {
  readonly name: string;
  readonly pin?: string | undefined;
}

/** Returns the name of the host that should serve this tenant; undefined if no host lives. */
export function placeOf({ name, pin }: Placed, live: readonly string[]): string | undefined {
  if (pin !== undefined && live.includes(pin)) return pin;
  let best: { readonly host: string; readonly weight: string } | undefined;
  for (const host of live) {
    const weight = weightOf(host, name);
    if (best === undefined || weight > best.weight) best = { host, weight };
  }
  return best?.host;
}

/** Names have no space, so no two pairs have the same text. */
const weightOf = (host: string, tenant: string): string => sha256(`${host} ${tenant}`);
