/** The caps of the network that programs reach, and keys that sign. */
import type { ForwardCap, HostCap, HttpCap, ProgramNet, SignCap, UnixCap } from '../file/types.ts';
import { type Finding, type Path, quoted } from '../text/mistakes.ts';
import { orNearest } from './directories.ts';
import type { Plan, PlannedCap, PlannedForward, PlannedHost, PlannedSign, PlannedUnix } from './plan.ts';
import { type Machine, type Origin, placeOf } from './roots.ts';

type Base = Pick<PlannedCap, 'name' | 'how' | 'terms' | 'offer'>;

/** Whether a program can reach it. Its holder can only look at it. */
export const isOfPrograms = (cap: PlannedCap | undefined): cap is PlannedHost | PlannedUnix | PlannedForward =>
  cap?.kind === 'host' || cap?.kind === 'unix' || cap?.kind === 'forward';

/** A host. Pushes what is wrong. */
export function hostOf(cap: HostCap, base: Base, path: Path, findings: Finding[]): PlannedHost {
  const { host, port = 443, tls = true, client, ca } = cap;
  notAsked(base, path, findings);
  if (client !== undefined && !tls)
    findings.push({
      path: [...path, 'tls'],
      wrong: 'a client certificate is shown in TLS',
      write: 'remove tls: false',
    });
  if (client === undefined && ca !== undefined)
    findings.push({ path: [...path, 'ca'], wrong: 'the program checks the server here, so the host trusts nobody', write: 'give the certificate to the program as a file, or add client' }); // biome-ignore format: one line
  return {
    ...base,
    ...{ kind: 'host', host, port, tls, addresses: [...new Set(cap.addresses ?? [])].sort() },
    ...(client === undefined ? {} : { client }),
    ...(ca === undefined ? {} : { ca }),
  };
}

/** A socket. A session that could write beside it could put another one in its place. Pushes what is wrong. */
export function unixOf(
  cap: UnixCap,
  base: Base,
  path: Path,
  around: { readonly roots: Plan['roots']; readonly machine: Machine & { readonly origin?: Origin }; readonly findings: Finding[] }, // biome-ignore format: one line
): PlannedUnix {
  const { home, holds, origin } = around.machine;
  notAsked(base, path, around.findings);
  const place = placeOf(cap.unix, origin?.folder, home);
  if (place === undefined || !place.startsWith('/'))
    around.findings.push({ path: [...path, 'unix'], wrong: `${quoted(cap.unix)} is not a place`, write: 'write a path like /run/db.sock or ~/db.sock' }); // biome-ignore format: one line
  for (const [root, folder] of Object.entries(around.roots))
    if (place !== undefined && folder !== undefined && (holds?.(folder, place) ?? place.startsWith(`${folder}/`)))
      around.findings.push({ path: [...path, 'unix'], wrong: `this socket lies in the root ${root}, so a session could put another in its place`, write: 'name one outside of every root' }); // biome-ignore format: one line
  return { ...base, kind: 'unix', unix: place ?? cap.unix, at: cap.at ?? `/run/${base.name}.sock` };
}

/** A prefix whose requests the host sends. */
export function forwardOf(http: Omit<PlannedForward, 'kind'>, path: Path, findings: Finding[]): PlannedForward {
  notAsked(http, path, findings);
  return { ...http, kind: 'forward' };
}

/** The keys of a forward cap as those of an http cap. */
export const asHttp = ({ forward, ...rest }: ForwardCap): HttpCap => ({ ...rest, http: forward });

/** A key that signs. */
export const signOf = ({ sign, secret, context }: SignCap, base: Base): PlannedSign => ({
  ...base,
  ...{ kind: 'sign', algorithm: sign, secret },
  ...(context === undefined ? {} : { context }),
});

/** A person is asked about the program, and a program cannot wait for a person. */
function notAsked({ how, terms }: Base, path: Path, findings: Finding[]): void {
  const wrong = (key: string | undefined, what: string, write: string): unknown =>
    findings.push({ path: key === undefined ? path : [...path, key], key: key === undefined, wrong: what, write });
  if (how === 'ask') wrong(undefined, 'nobody is asked for this cap: a person is asked about the program that names it', 'move it to caps, and the program to ask'); // biome-ignore format: one line
  if (terms.needs !== undefined || terms.alwaysHuman === true) wrong(terms.needs === undefined ? 'always_human' : 'needs', 'a program that reaches this does not wait for a person', 'write it at the program'); // biome-ignore format: one line
  if (terms.uses !== undefined) wrong('uses', 'the connections of a program are not counted as uses', 'write uses at the program'); // biome-ignore format: one line
}

/** The caps that a program names in `net`. Pushes what is wrong. */
export function netOf(
  given: ProgramNet | undefined,
  path: Path,
  caps: Plan['caps'],
  findings: Finding[],
): { readonly net?: readonly string[] } {
  if (given === undefined || given === 'none') return {};
  const names = Object.values(caps).filter(isOfPrograms).map(({ name }) => name); // biome-ignore format: one line
  const wrong = (n: number, what: string, write: string): unknown =>
    findings.push({ path: [...path, 'net', n], wrong: what, write });
  for (const [n, name] of given.entries())
    if (!Object.hasOwn(caps, name)) wrong(n, `there is no cap ${name}`, orNearest(name, names));
    else if (!isOfPrograms(caps[name]))
      wrong(n, `${name} is no cap with host, unix or forward`, orNearest(name, names));
  return { net: [...new Set(given)].sort() };
}
