/**
 * Conversations that chance makes, against a live session of either dialect.
 *
 * The rules for each of them: nothing is thrown out of `hear`; in the end the session is closed with a
 * reason or answers one more call; no question is answered twice; nothing of the host is said; nothing is
 * left in the tables; no promise breaks unseen.
 */
import type { DialectName } from '../src/captp/captp.ts';
import { type CapTPLimits, captp, type Duplex, type Far, openVats, type Vats } from '../src/index.ts';
import { ofTheHost } from './attacker.ts';
import { Chance } from './chance.ts';
import { type Step, Talk } from './frames.ts';
import { openRoom } from './room.ts';

export interface Conversation {
  readonly dialect: DialectName;
  readonly limits: CapTPLimits;
  readonly meter: Readonly<Record<string, number>>;
}

/** One that was held, and can be held again word for word. */
export interface Recorded extends Conversation {
  readonly steps: readonly Step[];
}
export interface Live extends Conversation {
  readonly talk: Talk;
}

export interface Verdict {
  /** The frames that were sent. */
  readonly steps: readonly Step[];
  readonly fault: string | undefined;
  /** Why it was closed. */
  readonly closed: string | undefined;
  /** ms of CPU of the frame that cost most. */
  readonly longest: number;
}

const someLimits: readonly CapTPLimits[] = [
  {},
  {},
  { memoryBytes: 20_000 },
  { exports: 4 },
  { questions: 3 },
  { depth: 3, tokens: 60, bigintDigits: 5 },
  { frameBytes: 400 },
  { bufferedBytes: 0 },
];
const someMeters: readonly Readonly<Record<string, number>>[] = [
  {},
  {},
  {},
  { promises: 0 },
  { promises: 3 },
  { messages: 2 },
  { actors: 1 },
];

export function conversation(seed: number): Live {
  const chance = new Chance(seed);
  const dialect = chance.of(['hob.1', 'captp'] as const);
  return {
    dialect,
    limits: chance.of(someLimits),
    meter: chance.of(someMeters),
    talk: new Talk(chance, dialect),
  };
}

const probe: Readonly<Record<DialectName, string>> = {
  'hob.1': `["deliver",0,"echo",["still here"],${2 ** 50}]`,
  captp:
    `{"type":"CTP_CALL","epoch":0,"questionID":"q-${2 ** 50 - (2 ** 50 % 10)}","target":"o-1","method":{"body":"[\\"echo\\",[1]]","slots":[]}}`.replace(
      /q-\d+/,
      'q-900000000000000',
    ),
};
/** A host that still acts by itself after so many rounds of the event loop counts as one that never stops. */
const rounds = 400;
const round = (): Promise<void> => new Promise((wake) => setImmediate(wake));

export class Fuzzer {
  readonly #vats: Vats;
  readonly #room: Far<unknown>;
  /** Promises that broke unseen, and errors that nobody caught. */
  readonly #unseen: string[] = [];
  #meters = 0;
  readonly #note = (error: unknown): void => void this.#unseen.push(String((error as Error)?.stack ?? error));

  private constructor(vats: Vats, room: Far<unknown>) {
    this.#vats = vats;
    this.#room = room;
  }

  static async open(): Promise<Fuzzer> {
    const vats = await openVats();
    return new Fuzzer(vats, (await openRoom(vats)) as Far<unknown>);
  }
  close(): Promise<void> {
    return this.#vats.close();
  }

  /** Listens on the process. False where a test runner listens itself. */
  listen(): void {
    process.on('unhandledRejection', this.#note);
    process.on('uncaughtException', this.#note);
  }

  async run(held: Recorded | Live): Promise<Verdict> {
    const { dialect, limits, meter } = held;
    const talk = 'talk' in held ? held.talk : undefined;
    const end = new OneEnd(dialect, talk);
    const steps: Step[] = 'steps' in held ? [...held.steps] : [];
    this.#meters += 1;
    const session = captp(end, {
      dialect,
      limits,
      bootstrap: this.#room as object,
      meter: this.#vats.meter(`fuzz-${this.#meters}`, meter),
    });
    try {
      for (let at = 0; end.closed === undefined; at += 1) {
        const step = talk === undefined ? steps[at] : talk.step();
        if (step === undefined) break;
        if (talk !== undefined) steps.push(step);
        end.hear(step.frame);
        if (step.pause) await round();
      }
      for (let i = 0; i < 3; i += 1) await round();
      if (end.closed === undefined) end.hear(dialect === 'hob.1' ? `[${probe[dialect]}]` : probe[dialect]);
    } catch (error) {
      end.fault(`thrown out of hear: ${String((error as Error).stack)}`);
    }
    for (let i = 0; i < rounds && end.closed === undefined && !end.answered; i += 1) await round();
    const closed = end.closed?.reason;
    if (closed === undefined && !end.answered) end.fault('neither an answer nor a close');
    session.close();
    await session.closed;
    await round();
    for (const [name, count] of Object.entries(session.stats()))
      if (count !== 0) end.fault(`left in the tables: ${name} ${count}`);
    for (const error of this.#unseen.splice(0)) end.fault(`unseen: ${error}`);
    return { steps, fault: end.faults[0], closed, longest: end.longest };
  }
}

/** The peer's end: frames are heard at once, and nothing is kept of what is said but what matters. */
class OneEnd implements Duplex {
  readonly buffered = 0;
  readonly faults: string[] = [];
  closed: { readonly code: number; readonly reason: string } | undefined;
  answered = false;
  longest = 0;
  readonly #dialect: DialectName;
  readonly #questions = new Set<unknown>();
  #hear: (frame: string | Uint8Array) => void = () => {};
  #end: (why: { readonly code: number; readonly reason: string }) => void = () => {};

  readonly #talk: Talk | undefined;

  constructor(dialect: DialectName, talk: Talk | undefined) {
    this.#dialect = dialect;
    this.#talk = talk;
  }

  fault(text: string): void {
    this.faults.push(text);
  }

  hear(frame: string | Uint8Array): void {
    const before = process.threadCpuUsage();
    this.#hear(frame);
    const { user, system } = process.threadCpuUsage(before);
    this.longest = Math.max(this.longest, (user + system) / 1000);
  }

  send(frame: string | Uint8Array): void {
    if (this.closed !== undefined) this.fault('a frame after the close');
    if (typeof frame !== 'string') return;
    const leak = ofTheHost.exec(frame);
    if (leak !== null) this.fault(`said of the host: ${leak[0]}`);
    const json = JSON.parse(frame) as unknown;
    this.#talk?.hear(json);
    if (this.#dialect === 'captp') {
      const { answerID } = json as { readonly answerID?: string };
      if (answerID !== undefined) this.#answer(answerID, answerID === 'q-900000000000000');
    } else
      for (const [name, question] of json as readonly (readonly unknown[])[])
        if (name === 'return' || name === 'fail') this.#answer(question, question === 2 ** 50);
  }

  #answer(question: unknown, last: boolean): void {
    if (this.#questions.has(question)) this.fault(`answered twice: ${String(question)}`);
    this.#questions.add(question);
    if (last) this.answered = true;
  }

  onFrame(then: (frame: string | Uint8Array) => void): void {
    this.#hear = then;
  }
  onClose(then: (why: { readonly code: number; readonly reason: string }) => void): void {
    this.#end = then;
  }
  close(code: number, reason: string): void {
    if (this.closed !== undefined) this.fault('closed twice');
    this.closed = { code, reason };
    if (reason === '' || code < 1000 || reason === 'a fault of this end') this.fault(`closed ${code} ${reason}`);
    const leak = ofTheHost.exec(reason);
    if (leak !== null) this.fault(`said of the host: ${leak[0]}`);
    this.#end(this.closed);
  }
}

/** The first line of a fault, without what differs from run to run. */
const kindOf = (fault: string): string => (fault.split('\n')[0] as string).replace(/\d+/g, 'N');

/** A shorter conversation with the same fault. */
export async function shrunk(fuzzer: Fuzzer, failing: Recorded, fault: string): Promise<Recorded> {
  let best = failing;
  let tries = 0;
  const attempt = async (steps: readonly Step[]): Promise<boolean> => {
    tries += 1;
    if (tries > 2000) return false;
    const candidate = { ...best, steps };
    const verdict = await fuzzer.run(candidate);
    if (verdict.fault === undefined || kindOf(verdict.fault) !== kindOf(fault)) return false;
    best = candidate;
    return true;
  };
  for (let size = best.steps.length; size >= 1; size = Math.floor(size / 2))
    for (let at = 0; at < best.steps.length; )
      if (!(await attempt([...best.steps.slice(0, at), ...best.steps.slice(at + size)]))) at += size;
  for (let at = 0; at < best.steps.length; at += 1)
    for (let smaller = true; smaller && tries <= 2000; ) {
      smaller = false;
      const step = best.steps[at] as Step;
      for (const frame of less(step.frame)) {
        smaller = await attempt(best.steps.map((each, index) => (index === at ? { ...step, frame } : each)));
        if (smaller) break;
      }
    }
  return best;
}

/** Frames with one part less. */
function* less(frame: string | Uint8Array): Iterable<string> {
  if (typeof frame !== 'string') return;
  let json: unknown;
  try {
    json = JSON.parse(frame);
  } catch {
    for (let size = frame.length >> 1; size >= 1; size >>= 1)
      for (let at = 0; at < frame.length; at += size) yield frame.slice(0, at) + frame.slice(at + size);
    return;
  }
  for (const smaller of parts(json)) yield JSON.stringify(smaller);
}

function* parts(json: unknown): Iterable<unknown> {
  if (typeof json !== 'object' || json === null) return;
  for (const key of Object.keys(json)) {
    const without = structuredClone(json) as Record<string, unknown>;
    if (Array.isArray(without)) without.splice(Number(key), 1);
    else delete without[key];
    yield without;
    for (const part of parts((json as Record<string, unknown>)[key])) {
      const changed = structuredClone(json) as Record<string, unknown>;
      changed[key] = part;
      yield changed;
    }
  }
}

export const shown = ({ dialect, limits, meter, steps }: Recorded): string =>
  [
    `${dialect}, limits ${JSON.stringify(limits)}, meter ${JSON.stringify(meter)}`,
    ...steps.map(
      ({ frame, pause }) =>
        `  ${typeof frame === 'string' ? frame : `<binary ${Buffer.from(frame).toString('hex')}>`}${pause ? '   (pause)' : ''}`,
    ),
  ].join('\n');
