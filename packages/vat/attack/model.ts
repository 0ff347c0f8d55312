/**
 * Conversations of peers that keep to the rules: each knows what it was given, what it asked and what it is
 * asked, and names only that.
 *
 * A fuzzer that bends frames (`fuzz.ts`) is mostly closed early. These programs get deep: calls on answers that are broken,
 * data, or another peer's; promises that are resolved to each other; streams; drops that cross. Two peers
 * talk to one durable host at a time, each in a dialect of its own, and vanish at any moment. What must hold:
 * no error of ours is noted, none comes out uncaught, nobody is closed on, every table is empty in the end,
 * and a third session loses no call.
 */
import type { DialectName } from '../src/captp/captp.ts';
import {
  type ByteSink,
  type ByteSource,
  CapError,
  captp,
  type Definition,
  type Duplex,
  define,
  driver,
  E,
  type Far,
  memoryPair,
  openStore,
  openVats,
  promise,
  type Store,
  type Vats,
} from '../src/index.ts';
import type { Connected } from '../src/wire.ts';
import { Chance } from './chance.ts';

// ---- the host -------------------------------------------------------------------------------------------------------------

interface Hall {
  echo(value: unknown): unknown;
  fail(): never;
  self(): unknown;
  later(value: unknown): unknown;
  stuck(): unknown;
  ask(whom: unknown, value: unknown): unknown;
  tell(whom: unknown, value: unknown): void;
  source(): unknown;
  sink(): unknown;
  leave(value: unknown): unknown;
  take(): unknown;
}
interface Machine {
  source(): Far<ByteSource>;
  sink(): Far<ByteSink>;
  leave(value: unknown): void;
  take(): unknown;
}
interface Hears {
  hear(value: unknown): unknown;
}
const Hall: Definition<Hall, [machine: Far<Machine>]> = define('Hall', (bcom, machine) => ({
  echo: (value) => value,
  fail: () => {
    throw new CapError('denied', 'as asked');
  },
  self: () => bcom.self,
  later: (value) => E(bcom.self).echo(value),
  stuck: () => promise().promise,
  ask: (whom, value) => E(whom as Far<Hears>).hear(value),
  tell: (whom, value) => {
    E.sendOnly(whom as Far<Hears>).hear(value);
    return bcom(Hall(machine));
  },
  source: () => E(machine).source(),
  sink: () => E(machine).sink(),
  leave: (value) => E(machine).leave(value),
  take: () => E(machine).take(),
}));

const methods = ['echo', 'fail', 'self', 'later', 'stuck', 'ask', 'tell', 'source', 'sink', 'leave', 'take'] as const;
/** Methods that any object may be asked for, whether it has them or not. */
const anyMethods = ['next', 'return', 'close', 'abort', 'write', 'hear', '__flush__', ''] as const;

function machine(): Far<Machine> {
  let left: unknown;
  const source = (): Far<ByteSource> => {
    let parts = 2;
    return driver<ByteSource>({
      next: () => {
        parts -= 1;
        return Promise.resolve(parts < 0 ? undefined : new Uint8Array(4));
      },
      return: () => Promise.resolve(),
    });
  };
  const sink = (): Far<ByteSink> =>
    driver<ByteSink>({
      write: () => Promise.resolve(),
      close: () => Promise.reject(new CapError('unavailable', 'as asked')),
      abort: () => Promise.resolve(),
    });
  return driver<Machine>(
    {
      source: () => Promise.resolve(source()),
      sink: () => Promise.resolve(sink()),
      leave: ([value]) => {
        left = value;
        return Promise.resolve();
      },
      take: () => Promise.resolve(left),
    },
    { name: 'model-machine' },
  );
}

// ---- one peer -------------------------------------------------------------------------------------------------------------

/** The parts of a value that a peer may send. */
type Value =
  | { readonly data: unknown }
  | { readonly bytes: number }
  | { readonly list: readonly Value[] }
  | { readonly ref: 'object' | 'promise' | 'yours' | 'yoursPromise' | 'answer'; readonly n: number };

/** How one dialect writes what a peer says. */
interface Script {
  call(to: Value, method: string, args: readonly Value[], question: number | undefined): void;
  give(question: string | number, value: Value): void;
  fail(question: string | number): void;
  resolve(promise: number, value: Value): void;
  break(promise: number): void;
  drop(n: number, kind: string, mentions: number): void;
  done(question: number): void;
}

class Peer implements Duplex {
  readonly buffered = 0;
  readonly #chance: Chance;
  readonly #script: Script;
  readonly dialect: DialectName;
  readonly #later: (string | Uint8Array)[] = [];
  #hear: (frame: string | Uint8Array) => void = () => {};
  #end: (why: { readonly code: number; readonly reason: string }) => void = () => {};
  closed: string | undefined;
  vanished = false;
  frames = 0;
  /** The objects that it was given and did not give back. */
  readonly #given = new Map<
    string,
    { readonly kind: 'yours' | 'yoursPromise'; readonly n: number; mentions: number }
  >();
  readonly #questions: number[] = [];
  #lastQuestion: number;
  #mine = 0;
  readonly #objects: number[] = [];
  /** Its promises that are not settled. */
  readonly #promises: number[] = [];
  readonly #asked: (string | number)[] = [];

  constructor(dialect: DialectName, chance: Chance) {
    this.dialect = dialect;
    this.#chance = chance;
    this.#lastQuestion = dialect === 'captp' ? 1 : 0;
    this.#script =
      dialect === 'captp' ? endoScript((frame) => this.#say(frame)) : hobScript((frame) => this.#say(frame));
    if (dialect === 'captp') this.#later.push(JSON.stringify({ type: 'CTP_BOOTSTRAP', epoch: 0, questionID: 'q-1' }));
    else this.#given.set('yours 0', { kind: 'yours', n: 0, mentions: 0 });
  }

  #say(frame: string | Uint8Array): void {
    this.#later.push(frame);
  }

  /** Hands over what it said. */
  flush(): void {
    for (const frame of this.#later.splice(0)) {
      if (this.closed !== undefined || this.vanished) return;
      this.frames += 1;
      this.#hear(frame);
    }
  }

  step(): void {
    const chance = this.#chance;
    const script = this.#script;
    const at = chance.below(20);
    if (at < 10) return this.#call();
    if (at < 13 && this.#asked.length > 0) {
      const [question] = this.#asked.splice(chance.below(this.#asked.length), 1);
      return chance.is(0.3) ? script.fail(question as number) : script.give(question as number, this.#value());
    }
    if (at < 15 && this.#promises.length > 0) {
      const [settled] = this.#promises.splice(chance.below(this.#promises.length), 1);
      return chance.is(0.3) ? script.break(settled as number) : script.resolve(settled as number, this.#value());
    }
    if (at < 17 && this.#questions.length > 0) {
      const [question] = this.#questions.splice(chance.below(this.#questions.length), 1);
      return script.done(question as number);
    }
    if (at < 18 && this.#given.size > 1) {
      const [key, { kind, n, mentions }] = chance.of([...this.#given]);
      if (mentions === 0) return;
      this.#given.delete(key);
      return script.drop(n, kind, mentions);
    }
    this.#call();
  }

  #call(): void {
    const chance = this.#chance;
    const targets: Value[] = [...this.#given.values()].map(({ kind, n }) => ({ ref: kind, n }));
    const answers = this.#questions.slice(-6).map((n): Value => ({ ref: 'answer', n }));
    const to = answers.length > 0 && (chance.is(0.5) || targets.length === 0) ? chance.of(answers) : targets.at(0);
    const target = to !== undefined && 'ref' in to && to.ref !== 'answer' && chance.is(0.5) ? chance.of(targets) : to;
    if (target === undefined) return;
    const method = chance.is(0.6) ? chance.of(methods) : chance.of(anyMethods);
    const args = method === '__flush__' ? [] : chance.list(2, () => this.#value());
    let question: number | undefined;
    if (this.dialect === 'captp' || chance.is(0.9)) {
      this.#lastQuestion += 1;
      question = this.#lastQuestion;
    }
    this.#script.call(target, method, args, question);
    if (question !== undefined) this.#questions.push(question);
  }

  #value(depth = 0): Value {
    const chance = this.#chance;
    switch (chance.below(depth > 1 ? 8 : 10)) {
      case 0:
      case 1:
        return { data: chance.of([1, 'text', null, true, [1, 2], { a: 1 }]) };
      case 2:
        this.#mine += 1;
        this.#objects.push(this.#mine);
        return { ref: 'object', n: this.#mine };
      case 3:
        if (this.#objects.length > 0) return { ref: 'object', n: chance.of(this.#objects) };
        return { data: 0 };
      case 4:
        this.#mine += 1;
        this.#promises.push(this.#mine);
        return { ref: 'promise', n: this.#mine };
      case 5:
        if (this.#promises.length > 0) return { ref: 'promise', n: chance.of(this.#promises) };
        return { data: 0 };
      case 6:
        if (this.#given.size > 0) {
          const { kind, n } = chance.of([...this.#given.values()]);
          return { ref: kind, n };
        }
        return { data: 0 };
      case 7:
        if (this.#questions.length > 0) return { ref: 'answer', n: chance.of(this.#questions) };
        return { data: 0 };
      case 8:
        return this.dialect === 'captp' ? { data: 'no bytes' } : { bytes: 1 + chance.below(9) };
      default:
        return { list: chance.list(3, () => this.#value(depth + 1)) };
    }
  }

  // ---- what it is told ----------------------------------------------------------------------------------------------------

  send(frame: string | Uint8Array): void {
    if (typeof frame !== 'string' || this.vanished) return;
    const json = JSON.parse(frame) as unknown;
    if (this.dialect === 'captp') this.#hearEndo(json as EndoMessage);
    else for (const operation of json as unknown[][]) this.#hearHob(operation);
  }

  #got(kind: 'yours' | 'yoursPromise', n: number): void {
    const known = this.#given.get(`${kind} ${n}`);
    if (known !== undefined) known.mentions += 1;
    else this.#given.set(`${kind} ${n}`, { kind, n, mentions: 1 });
  }

  #hearHob(operation: readonly unknown[]): void {
    const [name, first, , , question] = operation;
    if (name === 'deliver' && typeof question === 'number') this.#asked.push(question);
    if (name === 'drop')
      for (let i = 1; i < operation.length; i += 2) {
        // Gone there: its number may not come again.
        for (const list of [this.#objects, this.#promises]) {
          const at = list.indexOf(operation[i] as number);
          if (at >= 0) list.splice(at, 1);
        }
      }
    if (name === 'resolve' || name === 'break') {
      const settled = this.#given.get(`yoursPromise ${String(first)}`);
      if (settled !== undefined) {
        this.#given.delete(`yoursPromise ${String(first)}`);
        this.#script.drop(settled.n, settled.kind, settled.mentions);
      }
    }
    const walk = (json: unknown): void => {
      if (typeof json !== 'object' || json === null) return;
      const { '@': kind, n } = json as { readonly '@'?: unknown; readonly n?: number };
      if (kind === 'object') this.#got('yours', n as number);
      else if (kind === 'promise') this.#got('yoursPromise', n as number);
      else for (const each of Object.values(json)) walk(each);
    };
    for (const part of operation.slice(2)) walk(part);
  }

  #hearEndo(message: EndoMessage): void {
    const { type, questionID, promiseID, slotID } = message;
    if (type === 'CTP_CALL' && questionID !== undefined) this.#asked.push(questionID);
    if (type === 'CTP_RESOLVE') this.#given.delete(`yoursPromise ${promiseID?.slice(2)}`);
    if (type === 'CTP_DROP' && slotID?.startsWith('o') === true) {
      const at = this.#objects.indexOf(Number(slotID.slice(2)));
      if (at >= 0) this.#objects.splice(at, 1);
    }
    for (const data of [message.method, message.result, message.res])
      for (const slot of data?.slots ?? []) {
        if (slot.startsWith('o+')) this.#got('yours', Number(slot.slice(2)));
        else if (slot.startsWith('p+')) this.#got('yoursPromise', Number(slot.slice(2)));
      }
  }

  // ---- the transport ------------------------------------------------------------------------------------------------------

  onFrame(then: (frame: string | Uint8Array) => void): void {
    this.#hear = then;
  }
  onClose(then: (why: { readonly code: number; readonly reason: string }) => void): void {
    this.#end = then;
  }
  close(code: number, reason: string): void {
    if (this.closed !== undefined) return;
    this.closed = `${code} ${reason}`;
    this.#end({ code, reason });
  }
  vanish(): void {
    if (this.closed !== undefined || this.vanished) return;
    this.vanished = true;
    this.#end({ code: 1006, reason: '' });
  }
}

interface EndoMessage {
  readonly type: string;
  readonly questionID?: string;
  readonly promiseID?: string;
  readonly slotID?: string;
  readonly method?: { readonly slots: readonly string[] };
  readonly result?: { readonly slots: readonly string[] };
  readonly res?: { readonly slots: readonly string[] };
}

function hobScript(say: (frame: string | Uint8Array) => void): Script {
  /** The operation, after the bytes that it needs. */
  const said = (make: (write: (value: Value) => unknown) => readonly unknown[]): void => {
    let at = 0;
    const write = (value: Value): unknown => {
      if ('data' in value) return value.data;
      if ('list' in value) return value.list.map(write);
      if ('bytes' in value) {
        const from = at;
        at += value.bytes;
        return { '@': 'bytes', at: from, n: value.bytes };
      }
      return { '@': value.ref === 'yoursPromise' ? 'yours' : value.ref, n: value.n };
    };
    const operation = make(write);
    if (at > 0) say(new Uint8Array(at));
    say(JSON.stringify([operation]));
  };
  return {
    call: (to, method, args, question) =>
      said((write) => {
        const { ref, n } = to as Extract<Value, { ref: string }>;
        const call = ['deliver', ref === 'answer' ? [n] : n, method, args.map(write)];
        return question === undefined ? call : [...call, question];
      }),
    give: (question, value) => said((write) => ['return', question, write(value)]),
    fail: (question) => said(() => ['fail', question, 'denied', 'as asked']),
    resolve: (promise, value) => said((write) => ['resolve', promise, write(value)]),
    break: (promise) => said(() => ['break', promise, 'expired', 'as asked']),
    drop: (n, _kind, mentions) => said(() => ['drop', n, mentions]),
    done: (question) => said(() => ['done', question]),
  };
}

function endoScript(say: (frame: string) => void): Script {
  const letters = { object: 'o+', promise: 'p+', yours: 'o-', yoursPromise: 'p-', answer: 'q-' } as const;
  const dataOf = (value: Value | { readonly call: readonly [string | null, readonly Value[]] }) => {
    const slots: string[] = [];
    const write = (value: Value): unknown => {
      if ('data' in value) return value.data;
      if ('list' in value) return value.list.map(write);
      if ('bytes' in value) return 'no bytes';
      const name = `${letters[value.ref]}${value.n}`;
      const at = slots.indexOf(name);
      return { '@qclass': 'slot', index: at >= 0 ? at : slots.push(name) - 1 };
    };
    const body = 'call' in value ? [value.call[0], value.call[1].map(write)] : write(value);
    return { body: JSON.stringify(body), slots };
  };
  const failed = { body: '{"@qclass":"error","message":"denied: as asked","name":"Error"}', slots: [] };
  const said = (type: string, message: object): void => say(JSON.stringify({ type, epoch: 0, ...message }));
  return {
    call: (to, method, args, question) => {
      const { ref, n } = to as Extract<Value, { ref: string }>;
      const target = `${letters[ref]}${n}`;
      said('CTP_CALL', { questionID: `q-${question}`, target, method: dataOf({ call: [method === '' ? null : method, args] }) }); // biome-ignore format: one line
    },
    give: (question, value) => said('CTP_RETURN', { answerID: question, result: dataOf(value) }),
    fail: (question) => said('CTP_RETURN', { answerID: question, exception: failed }),
    resolve: (promise, value) => said('CTP_RESOLVE', { promiseID: `p-${promise}`, res: dataOf(value) }),
    break: (promise) => said('CTP_RESOLVE', { promiseID: `p-${promise}`, rej: failed }),
    drop: (n, kind, mentions) => {
      if (kind === 'yours') said('CTP_DROP', { slotID: `o-${n}`, decRefs: mentions });
    },
    done: (question) => said('CTP_DROP', { slotID: `q-${question}`, decRefs: 1 }),
  };
}

// ---- what must hold -------------------------------------------------------------------------------------------------------

export interface ModelVerdict {
  readonly frames: number;
  readonly vanished: number;
  readonly faults: readonly string[];
}

const round = (): Promise<void> => new Promise((wake) => setImmediate(wake));

export class ModelFuzzer {
  readonly #vats: Vats;
  readonly #store: Store;
  readonly #hall: Far<Hall>;
  readonly #bystander: Connected<Hall>;
  readonly #faults: string[] = [];
  #meters = 0;
  readonly #note = (error: unknown): void =>
    void this.#faults.push(`uncaught: ${String((error as Error)?.stack ?? error)}`);
  readonly #observe = ({ error }: { readonly error: unknown }): void =>
    void this.#faults.push(`noted: ${String((error as Error)?.stack ?? error)}`);

  private constructor(store: Store, vats: Vats, hall: Far<Hall>) {
    this.#store = store;
    this.#vats = vats;
    this.#hall = hall;
    const [a, b] = memoryPair();
    captp(a, { bootstrap: hall, observe: this.#observe });
    this.#bystander = captp<Hall>(b);
  }

  /** `path`: the folder of its store. */
  static async open(path: string): Promise<ModelFuzzer> {
    const store = await openStore({ path });
    const vats = await openVats({ store, definitions: [Hall] });
    const of = machine();
    return new ModelFuzzer(store, vats, (await vats.vat('hall').root('hall', () => Hall(of))) as Far<Hall>);
  }

  async close(): Promise<void> {
    this.#bystander.close();
    await this.#bystander.closed;
    await this.#vats.close();
    await this.#store.close();
  }

  /** Listens on the process. False where a test runner listens itself. */
  listen(): void {
    process.on('unhandledRejection', this.#note);
    process.on('uncaughtException', this.#note);
  }

  async run(seed: number): Promise<ModelVerdict> {
    const chance = new Chance(seed);
    const peers = [0, 1].map(() => new Peer(chance.of(['hob.1', 'captp'] as const), chance));
    const sessions = peers.map((peer) => {
      this.#meters += 1;
      const meter = this.#vats.meter(`model-${this.#meters}`, chance.is(0.2) ? { promises: 3, messages: 5 } : {});
      return captp(peer, { dialect: peer.dialect, bootstrap: this.#hall as object, meter, observe: this.#observe });
    });
    for (let steps = 5 + chance.below(60); steps > 0; steps -= 1) {
      const peer = chance.of(peers);
      peer.step();
      if (chance.is(0.6)) peer.flush();
      if (chance.is(0.03)) peer.vanish();
      if (chance.is(0.4)) await round();
    }
    for (const peer of peers) peer.flush();
    if (chance.is(0.5)) for (let i = chance.below(8); i > 0; i -= 1) await round();
    const said = await E(this.#bystander.bootstrap).echo(seed);
    if (said !== seed) this.#faults.push('the bystander lost a call');
    for (const peer of peers) if (peer.closed !== undefined) this.#faults.push(`closed on: ${peer.closed}`);
    const vanished = peers.filter((peer) => peer.vanished).length;
    for (const [i, peer] of peers.entries()) {
      if (chance.is(0.5)) peer.vanish();
      else sessions[i]?.close();
    }
    await Promise.all(sessions.map(({ closed }) => closed));
    for (let i = 0; i < 6; i += 1) await round();
    for (const session of sessions)
      for (const [name, count] of Object.entries(session.stats()))
        if (count !== 0) this.#faults.push(`left in the tables: ${name} ${count}`);
    const { questions, answers, promises } = this.#bystander.stats();
    if (questions + answers + promises !== 0) this.#faults.push('left in the tables of the bystander');
    return { frames: peers.reduce((sum, peer) => sum + peer.frames, 0), vanished, faults: this.#faults.splice(0) };
  }
}
