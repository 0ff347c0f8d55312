/** Routes from a front door to the tenants of other machines. */
import type { FrontOptions } from '@hob/host';
import { CapError } from '@hob/vat';
import type { Cluster } from '../types.ts';
import type { Link } from './types.ts';

/**
 * Makes the option `elsewhere` of `openFrontDoor`: it asks the cluster where a tenant is, and dials that machine. A tenant
 * that is being opened here, or handed over, is `unavailable` and not unknown, so clients try again.
 */
export function routesOf(
  cluster: Pick<Cluster, 'where'>,
  link: Pick<Link, 'dial'>,
): NonNullable<FrontOptions['elsewhere']> {
  return (name) => {
    const place = cluster.where(name);
    if (place === undefined) return undefined;
    if (place !== 'here') return { open: () => link.dial(place) };
    return { open: () => Promise.reject(new CapError('unavailable', 'this tenant is being opened here: try again')) };
  };
}
