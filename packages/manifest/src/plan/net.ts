/** The caps that reach the network: an origin with a path prefix. */
import type { HttpCap } from '../file/types.ts';
import type { Finding, Path } from '../text/mistakes.ts';
import type { Base } from './command.ts';
import type { PlannedHttp } from './plan.ts';

/** A cap of an origin. Pushes what is wrong. */
export function httpOf(cap: HttpCap, base: Base, path: Path, findings: Finding[]): PlannedHttp {
  const { origin, pathname, protocol } = new URL(cap.http);
  const { secret, auth } = cap;
  if (auth !== undefined && secret === undefined)
    findings.push({ path: [...path, 'auth'], wrong: 'there is no secret that it could send', write: 'add secret, or remove auth' }); // biome-ignore format: one line
  if (secret !== undefined && protocol === 'http:' && cap.addresses === undefined)
    findings.push({ path: [...path, 'http'], wrong: 'a secret would go over the network in plain text', write: 'write https, or list the addresses in addresses' }); // biome-ignore format: one line
  return {
    ...base,
    kind: 'http',
    origin,
    path: pathname,
    methods: [...new Set(cap.methods)].sort(),
    ...(secret === undefined ? {} : { secret }),
    ...(auth === undefined ? {} : { auth }),
    headers: [...new Set((cap.headers ?? []).map((header) => header.toLowerCase()))].sort(),
    addresses: [...new Set(cap.addresses ?? [])].sort(),
  };
}
