/**
 * The net caps and socket caps of a world: which ones, and until when.
 *
 * A cap under grants that do more than end is refused, never widened. A job holds a lease of each of its ways. When
 * one of them ends, the door cuts the connections of that way, and the job goes on without it.
 */
import { reveal } from '@hob/revocable';
import { CapError, type Far, isReference } from '@hob/vat';
import { objectOf, type Place, placeOf } from '@hob/vat/forwarder';
import { takeMap } from '../arguments.ts';
import { isWithin, RESERVED, takeAt } from '../mounts.ts';
import { type Forward, type Passage, passageOf } from './passage.ts';

/** A way out as a shell holds it. */
export interface Way {
  /** `registry.example:443`, or the path of the socket inside. */
  readonly name: string;
  /** The path inside of a Unix socket. Undefined: a host, through the door. */
  readonly path: string | undefined;
  /** A net cap, a granted one, or one that each caller has to hold (`heldWay`). */
  readonly cap: object;
  /** URLs that programs have to ask for in another way, because the host forwards their requests. */
  readonly forward?: Pick<Forward, 'from' | 'inside'>;
}

/** A way out while a job runs. */
export interface WayLease {
  readonly way: Way;
  readonly passage: Passage;
  /** The grants that it was seen through, outermost first. */
  readonly grants: readonly string[];
  /** Aborts when one of them ends. */
  readonly ended: AbortSignal;
  /** Call it when no connection is open. */
  release(): void;
}

const MOST = 16;
const never: AbortSignal = new AbortController().signal;

/** Checks what a granter hands in. Outside turns. Errors: `invalid`, `E_NET`, `E_MOUNT_CONFLICT`. */
export async function takeWays(net: unknown, sockets: unknown, mounts: readonly string[]): Promise<readonly Way[]> {
  if (net !== undefined && !Array.isArray(net)) throw new CapError('invalid', 'net is a list of net caps');
  const wanted = [
    ...(net ?? []).map((cap: unknown) => ({ path: undefined, cap })),
    ...Object.entries(takeMap(sockets, 'sockets')).map(([at, cap]) => ({ path: takePlace(at, mounts), cap })),
  ];
  if (wanted.length > MOST) throw new CapError('invalid', `a world has at most ${MOST} net caps and sockets`);
  const ways: Way[] = [];
  for (const { path, cap: given } of wanted) {
    const cap = (await given) as object;
    const { passage, release } = await leaseWay({ name: path ?? '', path, cap: held.get(cap)?.cap ?? cap });
    release();
    const name = path ?? passage.name;
    const { forward } = passage;
    if (ways.some((way) => way.name === name))
      throw new CapError('E_MOUNT_CONFLICT', `${name}: two caps for one way: hand in one of them`);
    ways.push(Object.freeze({ name, path, cap, ...(forward && { forward: { from: forward.from, inside: forward.inside } }) })); // biome-ignore format: one line
  }
  return Object.freeze(ways);
}

/** A socket lies in no mount and in no part of the system. */
function takePlace(given: string, mounts: readonly string[]): string {
  const at = takeAt(given);
  const taken = [...RESERVED, ...mounts].find((one) => isWithin(at, one) || isWithin(one, at));
  if (taken !== undefined)
    throw new CapError('E_MOUNT_CONFLICT', `${at}: ${taken} is there: put the socket elsewhere, such as /run`);
  if (Buffer.byteLength(at) > 100) throw new CapError('invalid', 'the path of a socket has at most 100 bytes');
  return at;
}

/** Errors: `E_NET`, `revoked`, `expired`. */
async function leaseWay(way: Way): Promise<WayLease> {
  const { cap, path } = way;
  if (typeof cap !== 'object' || cap === null) throw notHanded();
  const seen = isReference(cap) ? await reveal(cap as Far<object>).catch(asRefused) : undefined;
  const inner = seen?.inner ?? cap;
  const passage = passageOf(isReference(inner) ? (objectOf(inner) ?? inner) : inner);
  if (passage === undefined || (passage.at === undefined) !== (path !== undefined)) {
    seen?.done();
    throw notHanded();
  }
  return { way, passage, grants: seen?.grants ?? [], ended: seen?.ended ?? never, release: () => seen?.done() };
}

/** `cap`, for jobs whose caller holds it. */
interface Held {
  readonly cap: object;
  readonly of: (grants: readonly string[]) => Promise<object | undefined>;
}

const held = new WeakMap<object, Held>();

/**
 * `cap` in the world of a shell that several sessions hold: a job gets the way only while its caller holds `cap`, too.
 * `of` is asked for each job, with the grants that the job was started under. It returns the granted `cap` of that
 * caller, or undefined. When that grant ends, the connections are cut.
 */
export function heldWay(cap: object, of: Held['of']): object {
  const token = Object.freeze({});
  held.set(token, { cap, of });
  return token;
}

/** Errors: those of `leaseWay`, `E_NET` (the caller holds another cap). */
async function leaseHeld(way: Way, { cap, of }: Held, grants: readonly string[]): Promise<WayLease | undefined> {
  const own = await of(grants);
  if (own === undefined) return undefined;
  const lease = await leaseWay({ ...way, cap: own });
  if (lease.passage === passageOf(cap)) return { ...lease, way };
  lease.release();
  throw notHanded();
}

/**
 * Leases all ways of a job, or none. A way whose grant has ended, or that the caller does not hold, is left out: the
 * job runs without it.
 */
export async function leaseWays(ways: readonly Way[], grants: readonly string[]): Promise<readonly WayLease[]> {
  const leases: WayLease[] = [];
  for (const way of ways) {
    try {
      const own = held.get(way.cap);
      const lease = own === undefined ? await leaseWay(way) : await leaseHeld(way, own, grants);
      if (lease !== undefined) leases.push(lease);
    } catch (error) {
      if (error instanceof CapError && ENDED.includes(error.code)) continue;
      for (const { release } of leases) release();
      throw error;
    }
  }
  return leases;
}

const ENDED: readonly string[] = ['revoked', 'expired', 'exhausted'];

/** Returns the ways to keep. `undefined` keeps all of its kind. Errors: `invalid`, `E_NOT_ATTENUATION`. */
export function keptWays(ways: readonly Way[], net: unknown, sockets: unknown): readonly Way[] {
  const [hosts, paths] = [wantedOf(net, 'net'), wantedOf(sockets, 'sockets')];
  for (const [wanted, isPath] of [[hosts, false], [paths, true]] as const) // biome-ignore format: one line
    for (const name of wanted ?? [])
      if (!ways.some((way) => way.name === name && (way.path !== undefined) === isPath))
        throw new CapError('E_NOT_ATTENUATION', `${name} is not handed in here: describe() tells what is`);
  return Object.freeze(ways.filter(({ name, path }) => (path === undefined ? hosts : paths)?.includes(name) ?? true));
}

function wantedOf(given: unknown, what: string): readonly string[] | undefined {
  if (given === undefined) return undefined;
  if (!Array.isArray(given) || !given.every((name) => typeof name === 'string'))
    throw new CapError('invalid', `${what} is a list of names, as describe() tells them`);
  return [...given];
}

/** For the granter: where the ways lead. One that another grant leads to has no name here. */
export const placesOf = (ways: readonly Way[]): Readonly<Record<string, Place>> =>
  Object.fromEntries(
    ways.map(({ name, cap }) => [
      name,
      placeOf(isReference(cap) ? (objectOf(cap) ?? cap) : (held.get(cap)?.cap ?? cap)) ?? { kind: 'address' },
    ]),
  );

const notHanded = (): CapError =>
  new CapError(
    'E_NET',
    'only a net cap or a socket cap of this host can be handed to a job, each in its place, under grants that only end',
  );

function asRefused(error: unknown): never {
  throw error instanceof CapError && error.code === 'denied' ? notHanded() : error;
}
