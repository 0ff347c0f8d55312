/**
 * The caps of a plan that programs reach the network with, and keys that sign, made.
 *
 * Promise: a job reaches what its program names in `net`, and only while the session that started it holds that cap, too.
 * When that grant ends, the connections are cut.
 */
import { makeForwardCap, makeNetCap, makeSignerCap, makeSocketCap } from '@hob/caps-net';
import { heldWay } from '@hob/caps-shell';
import type { Granter, Host, OfferOptions } from '@hob/host';
import { isOfPrograms, type Plan, type PlannedCap, type PlannedForward, type PlannedHost, type PlannedSign, type PlannedUnix } from '@hob/manifest'; // biome-ignore format: one line
import { CapError, E, type Far } from '@hob/vat';
import { Mistake } from '../line/mistake.ts';
import { petnameOf } from './names.ts';
import { certificates, httpOptions, made, type UsedSecrets } from './net.ts';

type OfPrograms = PlannedHost | PlannedUnix | PlannedForward;

/** All that such a cap is made of, as data. */
export function netMadeOf(cap: OfPrograms): unknown {
  const { name: _, how: __, terms: ___, ...rest } = cap;
  return rest;
}

/** The caps that a program names, in the order of their names. */
export const netCapsOf = ({ caps }: Pick<Plan, 'caps'>, { net = [] }: { readonly net?: readonly string[] }): readonly OfPrograms[] =>
  net.flatMap((name) => (isOfPrograms(caps[name]) ? [caps[name]] : [])); // biome-ignore format: one line

/** The ways of the programs of a world. */
export interface ProgramWays {
  readonly net: readonly object[];
  readonly sockets: Readonly<Record<string, object>>;
}

/** Makes each cap once, and finds who holds it. */
export class ProgramNet {
  readonly #host: Host;
  readonly #granter: string;
  readonly #secrets: UsedSecrets;
  readonly #made = new Map<string, ReturnType<typeof made>>();
  /** The session of a grant. A grant stays with its session. */
  readonly #sessions = new Map<string, string>();

  constructor(host: Host, granter: string, secrets: UsedSecrets) {
    this.#host = host;
    this.#granter = granter;
    this.#secrets = secrets;
  }

  /** The object of a cap. Errors: `Mistake`. */
  of(cap: OfPrograms): object {
    const key = JSON.stringify(netMadeOf(cap));
    const known = this.#made.get(key) ?? makeNet(cap, this.#secrets);
    this.#made.set(key, known);
    return known.cap;
  }

  /** The ways of a program. Errors: `Mistake`. */
  ways(plan: Plan, program: { readonly net?: readonly string[] }): ProgramWays {
    const caps = netCapsOf(plan, program);
    const way = (cap: OfPrograms): object =>
      heldWay(this.of(cap), (grants) => this.#heldBy(grants, petnameOf(cap.name)));
    return {
      net: caps.filter(({ kind }) => kind !== 'unix').map(way),
      sockets: Object.fromEntries(caps.flatMap((cap) => (cap.kind === 'unix' ? [[cap.at, way(cap)]] : []))),
    };
  }

  async close(): Promise<void> {
    await Promise.all([...this.#made.values()].map((one) => one.close().catch(() => {})));
  }

  /** The granted cap of that name that the caller's session holds. */
  async #heldBy(grants: readonly string[], petname: string): Promise<object | undefined> {
    const session = await this.#sessionOf(grants);
    if (session === undefined) return undefined;
    try {
      return await (await this.#host.session(session)).cap(petname);
    } catch (error) {
      if (error instanceof CapError && error.code === 'no-such-object') return undefined;
      throw error;
    }
  }

  async #sessionOf(grants: readonly string[]): Promise<string | undefined> {
    const known = (): string | undefined => grants.map((id) => this.#sessions.get(id)).find((id) => id !== undefined);
    const found = known();
    if (found !== undefined) return found;
    const granter = (await this.#host.granter(this.#granter)) as Far<Granter>;
    for (let after: string | undefined; ; ) {
      const page = await E(granter).list(after === undefined ? {} : { after });
      for (const { id, session } of page) this.#sessions.set(id, session);
      if (page.length === 0) return known();
      after = page.at(-1)?.id;
    }
  }
}

function makeNet(cap: OfPrograms, secrets: UsedSecrets): ReturnType<typeof made> {
  const { name } = cap;
  if (cap.kind === 'unix') return made(name, () => makeSocketCap({ path: cap.unix }));
  if (cap.kind === 'forward') return made(name, () => makeForwardCap(httpOptions(cap, secrets)));
  const { host, port, tls, addresses, client, ca } = cap;
  const some = addresses.length === 0 ? {} : { addresses };
  return made(name, () => makeNetCap({ host, port, ...(client === undefined && !tls ? { tls } : {}), ...some, ...certificates({ name, ca, client }, secrets) })); // biome-ignore format: one line
}

/** Makes a signer. Errors: `Mistake`. */
export function makeSigner({ name, secret, algorithm, context }: PlannedSign, secrets: UsedSecrets): object {
  try {
    return makeSignerCap({ key: secrets.of(secret, name), algorithm, ...(context === undefined ? {} : { context }) });
  } catch (error) {
    throw error instanceof CapError ? new Mistake(`${name}: ${error.message}`) : error;
  }
}

/** The text about an offer that people see. */
export function programNetShownAs(cap: OfPrograms | PlannedSign): OfferOptions {
  if (cap.kind === 'sign') return { label: `the key ${cap.secret}`.slice(0, 100), methods: ['sign', 'describe'], reads: ['describe'] }; // biome-ignore format: one line
  const label =
    cap.kind === 'host' ? `${cap.host}:${cap.port}` : cap.kind === 'unix' ? cap.at : `${cap.origin}${cap.path}`;
  return { label: label.slice(0, 100), methods: ['describe'], reads: ['describe'] };
}

/** Whether it is one of these. */
export const isNetOrSigner = (cap: PlannedCap): cap is OfPrograms | PlannedSign =>
  isOfPrograms(cap) || cap.kind === 'sign';
