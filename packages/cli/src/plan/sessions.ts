/**
 * Sessions of a host from a plan.
 *
 * Promise: a session holds what its plan lists and nothing else: `caps` are granted when it starts, `ask` waits for a
 * person, and a denied or unlisted cap does not exist. If a part of a plan cannot be made, no session starts. A wish that
 * cannot be made is left out, so that nobody who writes in a root stops sessions. An offer is named after all that its object is made of, so a changed manifest never changes what an earlier grant leads to.
 */

import { scheduleEffects } from '@hob/caps-net';
import type { Granter, Host, NewSession, OfferOptions } from '@hob/host';
import type { Directory, Plan, PlannedCap, PlannedMcp, PlannedSchedule } from '@hob/manifest';
import { E, type Far } from '@hob/vat';
import { Mistake } from '../line/mistake.ts';
import { type HeldDirectories, heldDirectories } from './box.ts';
import { Directories, mountsOf, type RealRoots } from './directories.ts';
import type { FindProgram, Machine } from './machine.ts';
import { channelOf, makeMessage, messageShownAs, outboxOf } from './messages.ts';
import { grantersOf, makerOf, petnameOf } from './names.ts';
import { httpReads, httpShownAs, makeHttp, UsedSecrets } from './net.ts';
import { isNetOrSigner, makeSigner, netCapsOf, netMadeOf, ProgramNet, programNetShownAs } from './program-net.ts';
import { makeCommand, makeShell, programOf } from './programs.ts';
import { operationsOf, readingOperations, readingPart } from './rights.ts';
import { agentOf, type ScheduleMaker, scheduleShownAs, scheduleText } from './schedules.ts';
import { rootsOfServer, Servers, toolPetnames } from './servers.ts';
import { grantTerms } from './terms.ts';
import type { Text } from './wishes.ts';

/** A session that was opened, and its children by name. Each has the secret that opens it. */
export interface OpenedSession {
  readonly session: NewSession;
  readonly children: Readonly<Record<string, NewSession>>;
  /** The wishes that could not be made, each with the reason. */
  readonly dropped: readonly string[];
  /** Its directories, for a program in a box. */
  readonly directories: () => Promise<HeldDirectories>;
}

/** A plan that is narrower than the one that is served, or has accepted wishes besides. */
export interface Opening {
  readonly plan?: Plan;
  /** The accepted texts that caps of the plan are from, by the names of the caps. */
  readonly from?: Readonly<Record<string, Text>>;
  /** For a run: the session holds these caps of the plan and no others. With a parent it ends with that, and no person is there. */
  readonly run?: { readonly only: readonly string[]; readonly parent?: string };
}

/** A petname of a session, and the name of the offer behind it. */
interface Offered {
  readonly petname: string;
  readonly offer: string;
}

/** The petnames of the cap of that name. */
const petnamesOf = (cap: PlannedCap | undefined, name: string): readonly string[] =>
  cap?.kind === 'mcp' ? toolPetnames(cap) : [petnameOf(name)];

/** The parts that the sessions of a plan are made from. */
interface PlanParts {
  readonly plan: Plan;
  /** The real paths of the roots that are no scratch folders. */
  readonly roots: RealRoots;
  readonly machine: Machine;
  /** Is told of each offer, before anybody is granted it. */
  readonly offered?: (offer: string, cap: PlannedCap) => void;
  /** Without it a plan with schedules is refused. */
  readonly schedules?: ScheduleMaker;
}

/** Opens sessions of one plan. */
export class PlanSessions {
  readonly #host: Host;
  readonly #plan: Plan;
  readonly #roots: RealRoots;
  readonly #machine: Machine;
  readonly #offered: (offer: string, cap: PlannedCap) => void;
  readonly #shared: Directories;
  readonly #schedules: ScheduleMaker | undefined;
  /** The offers that were made, by name. */
  readonly #offers = new Map<string, Promise<void>>();
  readonly #servers: Servers;
  readonly #secrets: UsedSecrets;
  readonly #net: ProgramNet;
  /** The objects of one session, until it ends. */
  readonly #closing = new Set<() => Promise<void>>();

  /** Errors: `Mistake`. */
  constructor(host: Host, { plan, roots, machine, offered = () => {}, schedules }: PlanParts) {
    refuseUnbuiltParts(plan);
    this.#host = host;
    this.#plan = plan;
    this.#roots = roots;
    this.#machine = machine;
    this.#offered = offered;
    this.#schedules = schedules;
    this.#shared = new Directories(roots);
    this.#secrets = new UsedSecrets(machine);
    this.#servers = new Servers(host, machine, this.#secrets);
    this.#net = new ProgramNet(host, makerOf(plan), this.#secrets);
  }

  /** The real paths of the directories of the plan, by petname. Scratch folders have none that lasts. */
  places(): Readonly<Record<string, string>> {
    return Object.fromEntries(
      Object.values(this.#plan.caps).flatMap((cap) => {
        const root = cap.kind === 'fs' ? this.#roots[cap.directory.root] : undefined;
        if (cap.kind !== 'fs' || root === undefined) return [];
        return [[petnameOf(cap.name), cap.directory.path === '' ? root : `${root}/${cap.directory.path}`]];
      }),
    );
  }

  /** Notes about servers and secrets for the person who starts the host. */
  get notes(): readonly string[] {
    return [...this.#servers.notes, ...this.#secrets.notes];
  }

  /** Makes everything that sessions share, so that mistakes are found before the first session. Errors: `Mistake`. */
  async prepare(): Promise<void> {
    // The first session that holds a schedule begins it.
    for (const cap of Object.values(this.#plan.caps))
      if (cap.kind === 'schedule') agentOf(this.#plan, cap, this.#machine);
      else if (this.#isShared(this.#plan, cap)) await this.#offer(this.#plan, cap, this.#shared);
  }

  /** All parts of the runs of a schedule, as one text. */
  scheduleText(cap: PlannedSchedule, plan: Plan = this.#plan): string {
    return scheduleText(plan, cap, this.#roots, (one) => directoriesOf(plan, one));
  }

  /** The name of the offer behind each cap that all sessions share. */
  async offers(): Promise<Readonly<Record<string, string>>> {
    const names: Record<string, string> = {};
    for (const cap of Object.values(this.#plan.caps))
      if (this.#isShared(this.#plan, cap) && cap.kind !== 'schedule')
        for (const { petname, offer } of await this.#offer(this.#plan, cap, this.#shared))
          names[cap.kind === 'mcp' ? petname : cap.name] = offer;
    return names;
  }

  /** The directories that all sessions share. */
  get directories(): Directories {
    return this.#shared;
  }

  /**
   * Opens a session. `name` is free among the open sessions. The roots are those of the plan that is served. Errors:
   * `Mistake`, and those of a host.
   */
  async open(name: string, { plan = this.#plan, from = {}, run }: Opening = {}): Promise<OpenedSession> {
    refuseUnbuiltParts(plan);
    const scratch = this.#scratchRoots().map((root) => [root, this.#machine.scratch()] as const);
    const remove = (): void => {
      for (const [, folder] of scratch) folder.remove();
    };
    const own = Object.fromEntries(scratch.map(([root, { path }]) => [root, path]));
    const directories = scratch.length === 0 ? this.#shared : new Directories({ ...this.#roots, ...own });
    const clean = async (): Promise<void> => {
      this.#closing.delete(clean);
      if (directories !== this.#shared) await directories.close();
      remove();
    };
    let session: NewSession | undefined;
    try {
      const granter = await this.#host.granter(makerOf(plan));
      const dropped: string[] = [];
      const caps = Object.values(plan.caps).filter((cap) => {
        if (run !== undefined) return run.only.includes(cap.name);
        if (cap.kind !== 'schedule' || this.#isServed(plan, cap)) return true;
        dropped.push(`hob: ${cap.name} is left out: it goes on after this session, and a layer of this session changes what its runs would be`); // biome-ignore format: one line
        return false;
      });
      const wished = caps.filter((cap) => Object.hasOwn(from, cap.name));
      const offers: [PlannedCap, Offered][] = [];
      for (const cap of caps.filter((one) => !wished.includes(one)))
        for (const offered of await this.#offer(plan, cap, directories)) offers.push([cap, offered]);
      const unattended = run?.parent === undefined ? {} : ({ parent: run.parent, unattended: true } as const);
      session = await this.#host.openSession({ name, granters: grantersOf(plan), ...unattended });
      const { id } = session;
      const grant = async (cap: PlannedCap, { petname, offer }: Offered): Promise<void> => {
        const terms = grantTerms(plan, cap, this.#machine.now());
        await E(granter).grant(id, petname, offer, terms, from[cap.name]);
      };
      for (const [cap, offered] of offers) await grant(cap, offered);
      for (const cap of wished)
        try {
          for (const offered of await this.#offer(plan, cap, directories)) await grant(cap, offered);
        } catch (error) {
          dropped.push(`${from[cap.name]?.name}: ${cap.name} is left out: ${(error as Error).message}`);
        }
      const children = run === undefined ? await this.#openChildren(plan, session, granter) : {};
      this.#closing.add(clean);
      session.ended.then(clean).catch(() => {});
      const opened = session;
      return { session, children, dropped, directories: () => heldDirectories(plan, opened, directories) };
    } catch (error) {
      await session?.end('it could not be opened whole').catch(() => {});
      await clean();
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.#shared.close();
    await this.#net.close();
    for (const close of [...this.#closing]) await close();
  }

  #scratchRoots(): readonly string[] {
    return Object.keys(this.#plan.roots).filter((name) => this.#plan.roots[name] === undefined);
  }

  /** Its object is one for all sessions, and ends with the host: none of its directories is of one session. */
  #isShared(plan: Plan, cap: PlannedCap): boolean {
    const scratch = this.#scratchRoots();
    return !directoriesOf(plan, cap).some(({ root }) => scratch.includes(root));
  }

  async #openChildren(plan: Plan, parent: NewSession, granter: Far<Granter>): Promise<OpenedSession['children']> {
    const children: Record<string, NewSession> = {};
    for (const [name, give] of Object.entries(plan.children)) {
      const child = await this.#host.openSession({
        name: petnameOf(name),
        granters: grantersOf(plan),
        parent: parent.id,
      });
      for (const { cap: name, readonly } of give) {
        const cap = plan.caps[name];
        const part = readonly === true ? readingOf(cap) : {};
        for (const petname of petnamesOf(cap, name)) await E(granter).delegate(parent.id, petname, child.id, part);
      }
      children[name] = child;
    }
    return children;
  }

  /** The schedule is that of the plan that is served. */
  #isServed(plan: Plan, cap: PlannedSchedule): boolean {
    const served = this.#plan.caps[cap.name];
    return served?.kind === 'schedule' && this.scheduleText(cap, plan) === this.scheduleText(served);
  }

  /** Returns the petnames of a cap with the names of their offers: one, and for tools one for each. */
  async #offer(plan: Plan, cap: PlannedCap, own: Directories): Promise<readonly Offered[]> {
    // A session that ends closes its own directories, and with them what was made of them.
    const directories = this.#isShared(plan, cap) ? this.#shared : own;
    if (cap.kind === 'mcp') return await this.#offerTools(plan, cap, directories);
    if (cap.kind === 'schedule') return await this.#offerSchedule(plan, cap);
    const made = madeOf(plan, cap, directories, this.#machine.findProgram);
    const needs = needsOf(cap);
    const about = needs.needs === undefined ? made : [made, needs.needs];
    const name = await this.#host.nameFor(cap.kind, JSON.stringify(about));
    this.#offered(name, cap);
    const known = this.#offers.get(name);
    const offering = known ?? this.#make(plan, cap, directories).then((object) => this.#host.offer(name, object, { ...shownAs(cap), ...needs })); // biome-ignore format: one line
    this.#offers.set(name, offering);
    // The cause of a failure may be mended, such as a missing folder.
    offering.catch(() => this.#offers.delete(name));
    await offering;
    return [{ petname: petnameOf(cap.name), offer: name }];
  }

  async #offerTools(plan: Plan, cap: PlannedMcp, directories: Directories): Promise<readonly Offered[]> {
    const tools = await this.#servers.tools(plan, cap, directories);
    for (const { offer, label, cap: tool, effects } of tools) {
      this.#offered(offer, cap);
      const offering = this.#offers.get(offer) ?? this.#host.offer(offer, tool, { label, methods: ['call', 'describe'], reads: ['describe'], ...(effects && { effects }), ...needsOf(cap) }); // biome-ignore format: one line
      this.#offers.set(offer, offering);
      await offering;
    }
    return tools;
  }

  /** Looked for at each session, because its grant may have ended meanwhile. */
  async #offerSchedule(plan: Plan, cap: PlannedSchedule): Promise<readonly Offered[]> {
    if (this.#schedules === undefined) throw new Mistake(`${cap.name}: this host runs no schedules: use hob serve`);
    const text = this.scheduleText(cap, plan);
    const offer = await this.#host.nameFor('schedule', text);
    this.#offered(offer, cap);
    await this.#host.offer(offer, await this.#schedules.face(text, cap), { ...scheduleShownAs(cap), effects: scheduleEffects }); // biome-ignore format: one line
    return [{ petname: petnameOf(cap.name), offer }];
  }

  async #make(plan: Plan, cap: PlannedCap, directories: Directories): Promise<object> {
    if (cap.kind === 'fs') return await directories.attenuated(cap);
    if (cap.kind === 'shell') return await makeShell(plan, cap, directories, this.#net.ways(plan, cap));
    if (cap.kind === 'command') return await makeCommand(plan, cap, directories, this.#machine.findProgram, this.#net.ways(plan, cap)); // biome-ignore format: one line
    if (cap.kind === 'sign') return makeSigner(cap, this.#secrets);
    if (isNetOrSigner(cap)) return this.#net.of(cap);
    if (cap.kind === 'http') {
      const made = makeHttp(cap, this.#secrets);
      directories.keep(made);
      return made.cap;
    }
    if (cap.kind === 'message') return await makeMessage(plan, cap, this.#secrets, directories);
    throw new Error('it is made elsewhere');
  }
}

/** Whether a yes to it needs a passkey. Such an object is an offer of its own. */
const needsOf = ({ terms: { needs } }: PlannedCap): Pick<OfferOptions, 'needs'> =>
  needs === undefined ? {} : { needs };

/** The part of a cap that reads, as terms of a grant. */
function readingOf(cap: PlannedCap | undefined): { readonly methods?: readonly string[] } {
  if (cap?.kind === 'fs') return { methods: readingPart(cap.can) };
  return cap?.kind === 'http' ? { methods: httpReads } : {};
}

/** Every directory that a cap has, or that its program sees. */
function directoriesOf(plan: Plan, cap: PlannedCap): readonly Directory[] {
  if (cap.kind === 'fs') return [cap.directory];
  if (cap.kind === 'mcp') return rootsOfServer(plan, cap).map((root) => ({ root, path: '' }));
  if (cap.kind === 'message') return outboxOf(channelOf(plan, cap));
  if (cap.kind !== 'command' && cap.kind !== 'shell') return [];
  const mounted = mountsOf(plan, cap.mounts).map(({ directory }) => directory);
  return cap.cwd === undefined ? mounted : [...mounted, cap.cwd];
}

/** The text about an offer that people see. */
function shownAs(cap: PlannedCap): OfferOptions {
  if (cap.kind === 'command') return { label: cap.command.slice(0, 100), methods: ['run'] };
  if (cap.kind === 'http') return httpShownAs(cap);
  if (cap.kind === 'message') return messageShownAs(cap);
  if (isNetOrSigner(cap)) return programNetShownAs(cap);
  if (cap.kind !== 'fs') return { label: cap.name.slice(0, 100) };
  const { root, path } = cap.directory;
  return {
    label: (path === '' ? root : `${root}/${path}`).slice(-100),
    methods: operationsOf(cap.can),
    reads: readingOperations,
  };
}

/** All that the object of a cap is made of, as data. */
function madeOf(plan: Plan, cap: PlannedCap, directories: Directories, find: FindProgram): unknown {
  const place = ({ root, path }: { readonly root: string; readonly path: string }): readonly string[] => [
    directories.realPath({ root, path }),
    root,
    path,
  ];
  if (cap.kind === 'fs') return ['fs', place(cap.directory), cap.can, cap.except];
  if (cap.kind === 'http') {
    const { origin, path, methods, secret, auth, headers, addresses, ca, client, proxy } = cap;
    const more = [ca, client, proxy].some((one) => one !== undefined) ? [ca, client, proxy] : [];
    return ['http', origin, path, methods, secret, auth, headers, addresses, ...more];
  }
  if (cap.kind === 'message') {
    const channel = channelOf(plan, cap);
    return ['message', 'outbox' in channel ? ['outbox', place(channel.outbox)] : channel, cap.channel, cap.recipient];
  }
  if (cap.kind === 'sign') return ['sign', cap.algorithm, cap.secret, cap.context];
  if (isNetOrSigner(cap)) return ['net', netMadeOf(cap)];
  if (cap.kind === 'mcp' || cap.kind === 'schedule') throw new Error('it has an offer of its own');
  const mounts = mountsOf(plan, cap.mounts).map(({ name, directory, can }) => [name, place(directory), can]);
  const reads = cap.kind === 'command' && cap.reads === true;
  const ways = netCapsOf(plan, cap).map((one) => [petnameOf(one.name), netMadeOf(one)]);
  const world = [mounts, cap.cwd === undefined ? undefined : place(cap.cwd), reads, ...(ways.length === 0 ? [] : [ways])]; // biome-ignore format: one line
  if (cap.kind === 'shell') return ['shell', world];
  return ['command', world, programOf(cap, find), cap.rows, cap.flags];
}

/** Errors: `Mistake`, which names what this version cannot start. */
function refuseUnbuiltParts(plan: Plan): void {
  for (const [child, give] of Object.entries(plan.children))
    for (const { cap: name, readonly } of give) {
      const cap = plan.caps[name];
      if (readonly !== true || cap?.kind === 'fs' || cap?.kind === 'http') continue;
      // All of it reads, so its reading part is the whole.
      if ((cap?.kind === 'command' || cap?.kind === 'shell') && cap.effect === 'read') continue;
      throw new Mistake(`children.${child}: ${name}.readonly: no part of a program that writes can be given: put the rows that read into a cap of their own, with reads: true, and give that`); // biome-ignore format: one line
    }
}
