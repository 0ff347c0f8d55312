/**
 * Runs a random program, and says what did not hold.
 *
 * Beside each value that a party holds stands the node that says what it has to be. Checked: each call
 * arrives at most once, at the right object, and is answered once or broken; messages of one sender to one
 * object keep their order on one way, and on any way that the sender knew to lead there; one object is one
 * reference; counts are never negative; nothing is left at the end.
 */
import { type Connected, captp, type DialectName, release } from '../src/captp/captp.ts';
import type { CapTPStats } from '../src/captp/session/session.ts';
import { vatPromiseOf } from '../src/core/promise.ts';
import { targetOf } from '../src/core/reference.ts';
import { CapError, type Definition, define, driver, E, type Far, openVats, promise, type Vat } from '../src/index.ts';
import { current } from '../src/turn/turn.ts';
import {
  deadlocks,
  type Ending,
  ending,
  type Hears,
  type Holding,
  type Minted,
  type Node,
  type ObjectNode,
  type Party,
  type PromiseNode,
  type Seen,
  type Sending,
} from './captp-nodes.ts';
import type { Program, Reply, Step } from './captp-programs.ts';
import { StepWire } from './step-wire.ts';

/** Reports of the actors to the running world. */
let world: World | undefined;
const Ear: Definition<Hears, [name: string]> = define('Ear', (bcom, name) => ({
  hear: (id, args) => (world as World).heard(name, bcom.self, id, args),
}));

const turns = async (count: number): Promise<void> => {
  for (let i = 0; i < count; i += 1) await new Promise((resolve) => setImmediate(resolve));
};

export class Broken extends Error {}
/** Also where it is called from an actor or a promise, whose callers would take it for an answer. */
function must(holds: boolean, what: () => string): void {
  if (holds) return;
  const broken = new Broken(what());
  if (world !== undefined) world.broken ??= broken;
  throw broken;
}

export class World {
  readonly parties: Party[] = [];
  readonly wires: {
    readonly wire: StepWire;
    readonly ends: readonly [Connected<Hears>, Connected<Hears>];
    cut: boolean;
    readonly closed: string[];
  }[] = [];
  readonly #objects = new Map<string, ObjectNode>();
  readonly #sendings: Sending[] = [];
  readonly #delivered: { readonly sending: Sending; readonly at: ObjectNode }[] = [];
  readonly #seen: Seen[] = [];
  readonly #watched = new WeakSet<object>();
  /** Whom each party sent to last. */
  readonly #last = new Map<number, Holding>();
  /** The first thing that did not hold. */
  broken: Broken | undefined;
  #anyReleased = false;
  #first: readonly CapTPStats[] = [];
  readonly #oneMeter: boolean;

  constructor(oneMeter: boolean) {
    this.#oneMeter = oneMeter;
  }

  static async open({ parties, oneMeter }: Program, dialect: DialectName): Promise<World> {
    const made = new World(oneMeter);
    world = made;
    for (const name of ['hub', 'a', 'b'].slice(0, parties)) await made.#party(name);
    const [hub, ...others] = made.parties as [Party, ...Party[]];
    for (const other of others) {
      const wire = new StepWire();
      const [hubEnd, otherEnd] = wire.ends;
      const bootstraps = [hub, other].map((party) => (party.locals[0] as ObjectNode).ref as object);
      const ends = [
        captp<Hears>(hubEnd, { dialect, bootstrap: bootstraps[0] as object, ...made.#payer(hub) }),
        captp<Hears>(otherEnd, { dialect, bootstrap: bootstraps[1] as object, ...made.#payer(other) }),
      ] as const;
      const closed: string[] = [];
      for (const connection of ends) connection.closed.then(({ code, reason }) => closed.push(`${code} ${reason}`));
      made.wires.push({ wire, ends, cut: false, closed });
      made.#hold(hub, ends[0].bootstrap, other.locals[0] as ObjectNode);
      made.#hold(other, ends[1].bootstrap, hub.locals[0] as ObjectNode);
      // An Endo wire cannot pass on a bootstrap before it was answered.
      for (const { bootstrap } of ends) void (E(bootstrap) as unknown as { hear(): Promise<unknown> }).hear();
    }
    await made.drain();
    made.#first = made.#stats;
    return made;
  }

  #payer({ vat }: Party): { vat?: Vat } {
    return this.#oneMeter ? { vat } : {};
  }

  async #party(name: string): Promise<void> {
    const vats = await openVats();
    const vat = vats.vat(name);
    const spare: Minted[] = [];
    await vat.turn(() => {
      for (let i = 0; i < 40; i += 1) spare.push(promise<unknown>() as unknown as Minted);
    });
    const party: Party = { name, vats, vat, spare, locals: [], holdings: [], minted: [], references: new Map() };
    this.parties.push(party);
    for (let i = 0; i < 3; i += 1) {
      const object = `${name}${i}`;
      // Two actors, and one that is outside the vat.
      const node: ObjectNode = {
        kind: 'object',
        name: object,
        party,
        driver: i === 2,
        ref: undefined,
        released: false,
      };
      node.ref =
        i < 2
          ? await vat.spawn(Ear(object))
          : driver<Hears>({ hear: ([id, args]) => this.heard(object, node.ref, id, args) });
      this.#objects.set(object, node);
      party.locals.push(node);
      party.holdings.push({ real: node.ref, node });
    }
  }

  // ---- a call arrives -----------------------------------------------------------------------------------------------------

  heard(name: string, self: unknown, id: number | undefined, args: unknown): unknown {
    if (id === undefined) return undefined;
    const at = this.#objects.get(name) as ObjectNode;
    const sending = this.#sendings[id] as Sending;
    must(!this.#delivered.some((each) => each.sending === sending), () => `message ${id} came twice`);
    this.#delivered.push({ sending, at });
    const reals = (Array.isArray(args) ? args : (args as { args: unknown[] }).args) as unknown[];
    must(reals.length === sending.args.length, () => `message ${id} lost arguments`);
    const { party } = at;
    for (const [i, real] of reals.entries()) this.#hold(party, real, sending.args[i] as Node);
    try {
      const { value, node } = this.#reply(sending, sending.reply, at, self, reals);
      sending.answer.to = node;
      return value;
    } catch (error) {
      sending.answer.to = { kind: 'error', code: (error as CapError).code };
      throw error;
    }
  }

  #reply(
    sending: Sending,
    reply: Reply,
    at: ObjectNode,
    self: unknown,
    reals: readonly unknown[],
  ): { value: unknown; node: Node } {
    const [first] = reals;
    const firstNode = sending.args[0];
    switch (reply) {
      case 'self':
        return { value: self, node: at };
      case 'other': {
        const other = at.party.locals[sending.id % at.party.locals.length] as ObjectNode;
        return { value: other.ref, node: other };
      }
      case 'argument':
        if (firstNode === undefined) break;
        return { value: first, node: firstNode };
      case 'record':
        if (firstNode === undefined) break;
        return { value: { in: first }, node: { kind: 'data', value: 'record', inside: firstNode } };
      case 'promise': {
        const { value, node } = this.#mint(at.party);
        return { value, node };
      }
      case 'throw':
        throw new CapError('denied', 'as asked');
      case 'tell': {
        if (firstNode === undefined || typeof first !== 'object' || first === null || !isHandle(first)) break;
        const told = this.#send(
          at.party,
          this.#oneMeter ? at.party.name : `${at.party.name} in ${at.name} for ${sending.sender}`,
          { real: first, node: firstNode },
          [],
          sending.then,
          'data',
          false,
          false,
        );
        return { value: told?.real, node: told?.node as Node };
      }
      default:
    }
    return { value: sending.id, node: { kind: 'data', value: sending.id } };
  }

  // ---- a party acts -------------------------------------------------------------------------------------------------------

  #mint(party: Party): { value: unknown; node: PromiseNode } {
    const made = party.spare.pop() ?? promise<unknown>();
    const node: PromiseNode = { kind: 'promise', to: undefined, of: undefined };
    party.minted.push({
      node,
      resolve: (to) => made.resolver.resolve(to),
      break: (error) => made.resolver.break(error),
    });
    this.#hold(party, made.promise, node);
    return { value: made.promise, node };
  }

  #send(
    party: Party,
    sender: string,
    to: Holding,
    args: readonly Holding[],
    reply: Reply,
    then: Reply,
    only: boolean,
    deep: boolean,
  ): Holding | undefined {
    const id = this.#sendings.length;
    const node: PromiseNode = { kind: 'promise', to: undefined, of: undefined };
    const nodes = args.map((each) => each.node);
    const handle = to.real as object;
    const payer = current?.account ?? (targetOf(handle) ?? vatPromiseOf(handle))?.account;
    node.of = { id, sender, payer, party, target: to.node, handle, args: nodes, reply, then, answer: node };
    this.#sendings.push(node.of);
    const reals = args.map(({ real }) => real);
    const far = to.real as Far<Hears>;
    if (only) {
      E.sendOnly(far).hear(id, deep ? { args: reals } : reals);
      return undefined;
    }
    const real = E(far).hear(id, deep ? { args: reals } : reals);
    this.#hold(party, real, node);
    return { real, node };
  }

  #hold(party: Party, real: unknown, node: Node): void {
    party.holdings.push({ real, node });
    if (!(real instanceof Promise)) return this.#check(party, node, { ok: true, value: real });
    if (this.#watched.has(real)) return;
    this.#watched.add(real);
    const seen: Seen = { by: party, node, promise: real, outcome: undefined, at: Number.POSITIVE_INFINITY };
    this.#seen.push(seen);
    const settle = (ok: boolean, value: unknown): void => {
      seen.outcome = { ok, value };
      seen.at = this.#sendings.length;
      try {
        if (ok) this.#inside(party, node, value);
      } catch (error) {
        this.broken ??= error as Broken;
      }
    };
    real.then(
      (value) => settle(true, value),
      (error: unknown) => settle(false, error),
    );
  }

  /** References inside a record are held too. */
  #inside(party: Party, node: Node, value: unknown): void {
    const became = ending(node);
    if (became.kind !== 'data' || became.inside === undefined) return;
    this.#hold(party, (value as { in: unknown }).in, became.inside);
  }

  async run(step: Step): Promise<void> {
    const party = 'by' in step ? (this.parties[step.by % this.parties.length] as Party) : undefined;
    const held = (index: number): Holding =>
      (party as Party).holdings.at(-1 - (index % (party as Party).holdings.length)) as Holding;
    switch (step.do) {
      case 'send': {
        const { args, reply, then, only, deep } = step;
        const by = step.by % this.parties.length;
        const to = step.to === 'last' ? this.#last.get(by) : held(step.to);
        if (to === undefined || !isHandle(to.real)) break;
        this.#last.set(by, to);
        const own = (party as Party).locals[1] as ObjectNode;
        const given = args.map((arg) => (arg === 'own' ? { real: own.ref, node: own } : held(arg)));
        const answer = this.#send(party as Party, (party as Party).name, to, given, reply, then, only, deep);
        if (step.follow && answer !== undefined) this.#last.set(by, answer);
        break;
      }
      case 'mint':
        this.#mint(party as Party);
        break;
      case 'resolve': {
        const { minted } = party as Party;
        const chosen = minted.at(-1 - (step.which % Math.max(1, minted.length)));
        if (chosen === undefined) break;
        if (typeof step.to === 'number' && deadlocks(held(step.to).node, chosen.node)) break;
        minted.splice(minted.indexOf(chosen), 1);
        this.#resolve(chosen, step.to === 'data' || step.to === 'error' ? step.to : held(step.to));
        break;
      }
      case 'deliver': {
        const at = this.wires[step.wire % this.wires.length];
        for (let i = 0; i < step.frames; i += 1) at?.wire.step(step.end);
        break;
      }
      case 'turns':
        await turns(step.count);
        break;
      case 'drain':
        await this.drain();
        break;
      case 'release': {
        const { real, node } = held(step.which);
        const became = ending(node);
        if (real instanceof Promise || became.kind !== 'object' || became.party === party) break;
        became.released = true;
        this.#anyReleased = true;
        (party as Party).references.delete(became);
        release(real as Far<unknown>);
        break;
      }
      case 'cut': {
        const at = this.wires[step.wire % this.wires.length];
        if (at !== undefined) at.cut = true;
        at?.wire.cut(step.end);
      }
    }
    // Jobs of this one, not the turns of others.
    await Promise.resolve();
    this.#checkStats();
  }

  #resolve({ node, ...resolver }: Party['minted'][number], to: Holding | 'data' | 'error'): void {
    if (to === 'data') {
      node.to = { kind: 'data', value: 'data' };
      resolver.resolve('data');
    } else if (to === 'error') {
      node.to = { kind: 'error', code: 'expired' };
      resolver.break(new CapError('expired', 'as asked'));
    } else {
      node.to = to.node;
      resolver.resolve(to.real);
    }
  }

  async drain(): Promise<void> {
    for (let quiet = 0; quiet < 3; quiet += 1) {
      await turns(2);
      for (const { wire } of this.wires) for (const at of [0, 1] as const) while (wire.step(at)) quiet = 0;
      this.#checkStats();
    }
  }

  // ---- what has to hold ---------------------------------------------------------------------------------------------------

  get #stats(): readonly CapTPStats[] {
    return this.wires.flatMap(({ ends }) => ends.map((connection) => connection.stats()));
  }

  #checkStats(): void {
    if (this.broken !== undefined) throw this.broken;
    for (const stats of this.#stats)
      for (const [name, count] of Object.entries(stats))
        must(Number.isInteger(count) && (count as number) >= 0, () => `${name} is ${String(count)}`);
    for (const { cut, closed } of this.wires)
      must(cut || closed.length === 0, () => `the connection closed: ${closed.join()}`);
  }

  get #anyCut(): boolean {
    return this.wires.some(({ cut }) => cut);
  }

  #check(party: Party, node: Node, seen: { readonly ok: boolean; readonly value: unknown }): void {
    const became = ending(node);
    const code = seen.ok ? undefined : ((seen.value as CapError).code ?? String(seen.value));
    const said = (): string =>
      `${party.name} saw ${code ?? describe(seen.value)} where ${describeNode(became)} was to be`;
    if (code === 'disconnected' && this.#anyCut) return;
    if (code === 'no-such-object' && this.#anyReleased) return;
    switch (became.kind) {
      case 'data':
        must(seen.ok, said);
        if (became.inside === undefined) must(seen.value === became.value, said);
        else must(typeof seen.value === 'object' && Object.keys(seen.value as object).join() === 'in', said);
        return;
      case 'error':
        return must(code === became.code, said);
      case 'object': {
        must(seen.ok && isHandle(seen.value) && !(seen.value instanceof Promise), said);
        if (became.released || this.#anyCut) return;
        const known = became.party === party ? became.ref : (party.references.get(became) ?? seen.value);
        party.references.set(became, known);
        return must(seen.value === known, () => `${said()}: another reference of it`);
      }
      case 'cycle':
        return must(code === 'cycle', said);
      default:
        must(false, said);
    }
  }

  /** When all that can happen has happened. */
  async finish(): Promise<void> {
    do {
      for (const party of this.parties) for (const each of party.minted.splice(0)) this.#resolve(each, 'data');
      await this.drain();
    } while (this.parties.some(({ minted }) => minted.length > 0));
    for (const seen of this.#seen) {
      const became = ending(seen.node);
      must(seen.outcome !== undefined, () => `${seen.by.name} never heard of what became ${describeNode(became)}`);
      this.#check(seen.by, seen.node, seen.outcome as { ok: boolean; value: unknown });
    }
    for (const sending of this.#sendings) {
      const target = ending(sending.target);
      if (target.kind !== 'object' || target.released || this.#anyCut || this.#anyReleased) continue;
      const at = this.#delivered.find((each) => each.sending === sending)?.at;
      must(at === target, () => `message ${sending.id} to ${target.name} came to ${at?.name ?? 'nobody'}`);
    }
    this.#checkOrder();
  }

  #checkOrder(): void {
    const settled = new Map<object, Seen>();
    for (const seen of this.#seen) settled.set(seen.promise, seen);
    /** The value of `handle`, as far as the sender of message `at` knew it. */
    const known = (handle: object, at: number): unknown => {
      const seen = settled.get(handle);
      if (seen === undefined) return handle;
      return seen.outcome?.ok === true && seen.at <= at ? seen.outcome.value : undefined;
    };
    for (const [i, { sending: later, at }] of this.#delivered.entries())
      for (const { sending: earlier, at: to } of this.#delivered.slice(i + 1)) {
        // `earlier` was delivered after `later`: was it sent before, on the same way?
        if (at !== to || earlier.sender !== later.sender || earlier.id > later.id) continue;
        // The host program pays by what it calls: of its drivers, and what those answer, the house does.
        if (earlier.payer !== later.payer) continue;
        const same = earlier.handle === later.handle;
        const both = this.#oneMeter ? known(later.handle, later.id) : undefined;
        const through = both !== undefined && both === known(earlier.handle, later.id);
        must(
          !same && !through,
          () =>
            `order: ${later.sender} sent ${earlier.id} before ${later.id} to ${at.name}${same ? '' : ', which it knew by then'}`,
        );
      }
  }

  /** Nobody holds anything any more. */
  forget(): void {
    for (const party of this.parties) {
      party.holdings.length = 0;
      party.minted.length = 0;
      party.references.clear();
    }
    this.#last.clear();
    this.#seen.length = 0;
    this.#sendings.length = 0;
    this.#delivered.length = 0;
  }

  /** Why something is left, if so. */
  get left(): string | undefined {
    const now = this.#stats;
    // Less, where a bootstrap was released.
    const same = now.every((stats, i) =>
      Object.entries(stats).every(([name, count]) => count <= (this.#first[i] as CapTPStats)[name as keyof CapTPStats]),
    );
    return same ? undefined : `left ${JSON.stringify(now)}, began with ${JSON.stringify(this.#first)}`;
  }

  /** Questions, answers and promises need no garbage collector. */
  checkSettled(dialect: DialectName): void {
    for (const { questions, answers, promises } of this.#stats)
      must(
        // An Endo wire does not say that it is done with a broken answer.
        questions + (dialect === 'captp' ? 0 : answers) + promises === 0,
        () => `left ${JSON.stringify({ questions, answers, promises })}`,
      );
  }

  async close(): Promise<void> {
    const watched = [...this.#seen];
    for (const { ends, wire } of this.wires) {
      ends[0].close();
      while (wire.step(1));
    }
    await turns(3);
    for (const stats of this.#stats)
      must(
        Object.values(stats).every((count) => count === 0),
        () => `left after close: ${JSON.stringify(stats)}`,
      );
    for (const { by, outcome, node } of watched)
      must(outcome !== undefined, () => `${by.name} waits for ever for ${describeNode(ending(node))}`);
    for (const { vats } of this.parties) await vats.close();
  }

  async abandon(): Promise<void> {
    for (const { ends } of this.wires) for (const connection of ends) connection.close();
    for (const { vats } of this.parties) await vats.close();
  }
}

const isHandle = (x: unknown): x is object =>
  typeof x === 'object' && x !== null && (x instanceof Promise || (!('in' in x) && !Array.isArray(x)));
const describe = (value: unknown): string =>
  value instanceof Promise ? 'a promise' : isHandle(value) ? 'a reference' : JSON.stringify(value);
const describeNode = (node: Ending): string =>
  node.kind === 'object'
    ? node.name
    : node.kind === 'data'
      ? `data ${JSON.stringify(node.value)}`
      : node.kind === 'error'
        ? `error ${node.code}`
        : node.kind;

/** Runs a program to its end; throws what did not hold. */
export async function play(program: Program, dialect: DialectName, collected = false): Promise<void> {
  const made = await World.open(program, dialect);
  let ended = false;
  try {
    for (const each of program.steps) await made.run(each);
    await made.finish();
    made.checkSettled(dialect);
    if (collected) await collect(made);
    await made.close();
    ended = true;
  } finally {
    if (!ended) await made.abandon();
  }
}

async function collect(made: World): Promise<void> {
  made.forget();
  for (let i = 0; i < 12; i += 1) {
    (globalThis as unknown as { gc(): void }).gc();
    await made.drain();
    if (made.left === undefined) return;
  }
  throw new Broken(made.left ?? '');
}
