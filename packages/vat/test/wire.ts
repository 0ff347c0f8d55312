/**
 * Two ends of a wire in memory, a peer that is the published `@endo/captp`, and one that says whatever a test
 * wants.
 */
/// <reference path="./endo-captp.d.ts" />
import { makeCapTP } from '@endo/captp';
import { HandledPromise } from '@endo/eventual-send';
import type { Duplex } from '../src/captp/session/duplex.ts';

type Frame = string | Uint8Array;
interface Why {
  readonly code: number;
  readonly reason: string;
}

export interface End extends Duplex {
  /** Set by a test: what the other side has not read. */
  buffered: number;
  readonly closed: Why | undefined;
}

/** Frames arrive in order, each in a job of its own. */
export function wire(): readonly [End, End] {
  let closed: Why | undefined;
  const make = (): {
    end: End;
    arrive: (frame: Frame) => void;
    over: (why: Why) => void;
    to: (other: (frame: Frame) => void) => void;
  } => {
    let onFrame: (frame: Frame) => void = () => {};
    let onClose: (why: Why) => void = () => {};
    let other: (frame: Frame) => void = () => {};
    const end: End = {
      buffered: 0,
      get closed() {
        return closed;
      },
      send: (frame) => void (closed === undefined && queueMicrotask(() => other(frame))),
      onFrame: (then) => void (onFrame = then),
      onClose: (then) => void (onClose = then),
      close: (code, reason) => {
        if (closed !== undefined) return;
        closed = { code, reason };
        const why = closed;
        queueMicrotask(() => {
          a.over(why);
          b.over(why);
        });
      },
    };
    return {
      end,
      arrive: (frame) => void (closed === undefined && onFrame(frame)),
      over: (why) => onClose(why),
      to: (then) => void (other = then),
    };
  };
  const a = make();
  const b = make();
  a.to(b.arrive);
  b.to(a.arrive);
  return [a.end, b.end];
}

/** An honest peer: `@endo/captp` as it is published. */
export function endoPeer(
  duplex: Duplex,
  bootstrap?: unknown,
  options: { readonly gcImports?: boolean } = {},
): { readonly bootstrap: Promise<unknown>; abort(): void } {
  const { dispatch, getBootstrap, abort } = makeCapTP(
    'peer',
    (message) => duplex.send(JSON.stringify(message)),
    bootstrap,
    { onReject: () => {}, ...options },
  );
  duplex.onFrame((frame) => void dispatch(JSON.parse(frame as string)));
  duplex.onClose(() => abort('closed'));
  return { bootstrap: getBootstrap(), abort: () => abort('done') };
}

/** `E(x).method(...args)`, for what has no types. */
export const ask = (x: unknown, method: string, ...args: readonly unknown[]): Promise<unknown> =>
  (HandledPromise as unknown as Applies).applyMethod(x, method, args);
export const askFor = (x: unknown, property: string): Promise<unknown> =>
  (HandledPromise as unknown as Applies).get(x, property);

interface Applies {
  applyMethod(x: unknown, method: string, args: readonly unknown[]): Promise<unknown>;
  get(x: unknown, property: string): Promise<unknown>;
}

export interface CapData {
  readonly body: string;
  readonly slots: readonly string[];
}
export interface Said {
  readonly type: string;
  readonly questionID?: string;
  readonly answerID?: string;
  readonly promiseID?: string;
  readonly target?: string;
  readonly result?: CapData;
  readonly exception?: CapData;
  readonly res?: CapData;
  readonly rej?: CapData;
}

/** A peer by hand: says frames, and keeps what it is told. */
export class RawPeer {
  readonly said: Said[] = [];
  readonly #duplex: Duplex;
  readonly #waiting = new Set<() => void>();
  closed: Why | undefined;

  constructor(duplex: Duplex) {
    this.#duplex = duplex;
    duplex.onFrame((frame) => {
      this.said.push(JSON.parse(frame as string) as Said);
      this.#wake();
    });
    duplex.onClose((why) => {
      this.closed = why;
      this.#wake();
    });
  }

  send(message: unknown): void {
    this.#duplex.send(JSON.stringify(message));
  }

  raw(frame: string | Uint8Array): void {
    this.#duplex.send(frame);
  }

  start(questionID = 'q-1'): void {
    this.send({ type: 'CTP_BOOTSTRAP', epoch: 0, questionID });
  }

  /** `args` undefined is a property access; `slots` go with the body. */
  call(questionID: string, target: string, method: unknown, args?: unknown, slots: readonly string[] = []): void {
    const body = JSON.stringify(args === undefined ? [method] : [method, args]);
    this.send({ type: 'CTP_CALL', epoch: 0, questionID, target, method: { body, slots } });
  }

  /** The answer to the question; `closed …` where the connection closed instead. */
  async answer(questionID: string): Promise<string> {
    const said = await this.until((each) => each.answerID === questionID);
    if (said === undefined) return `closed ${this.closed?.code} ${this.closed?.reason}`;
    if (said.result !== undefined) return said.result.body;
    return (JSON.parse(said.exception?.body ?? '{}') as { message: string }).message;
  }

  async until(found: (said: Said) => boolean): Promise<Said | undefined> {
    for (;;) {
      const said = this.said.find(found);
      if (said !== undefined || this.closed !== undefined) return said;
      await new Promise<void>((wake) => this.#waiting.add(wake));
    }
  }

  #wake(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const wake of waiting) wake();
  }
}

/** The code that an error's text begins with, as it crosses the wire. */
export const codeOf = (error: unknown): string =>
  /^[\w-]+(?=: )/.exec((error as Error).message)?.[0] ?? `no code: ${(error as Error).message}`;
export const refusal = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    (value) => `no refusal: ${String(value)}`,
    (error: unknown) => (error as { code?: string }).code ?? codeOf(error),
  );
