/**
 * The codec of `hob.1` as an echo, for peers in other languages:
 * `packages/bridge-python/tests/test_codec.py`.
 *
 * A line `{"bytes": BASE64, "text": FRAME}` is heard and said again by the same tongue, each reference as
 * what it was called: answered with `{"bytes", "text"}`; with `{"refused": CODE}` where a value of it was,
 * and `{"closed": CODE}` where it breaks the rules.
 */
import { createInterface } from 'node:readline';
import { hob1 } from '../src/captp/dialects/hob.ts';
import { defaultLimits } from '../src/captp/session/limits.ts';
import {
  type Frame,
  type IncomingOperations,
  type Slot,
  type Slots,
  Undecodable,
  Violation,
} from '../src/captp/session/operations.ts';
import { CapError } from '../src/index.ts';

/** Stands for a slot: a reference is called, a promise is waited for. */
const slotOf = new WeakMap<object, Slot>();
const standIn = (slot: Slot): object => {
  const made = slot.kind === 'promise' ? new Promise(() => {}) : () => {};
  slotOf.set(made, slot);
  return made;
};
const slots: Slots = { give: (value) => slotOf.get(value), take: standIn };

function echo(bytes: string, text: string): object {
  const out: Frame[] = [];
  const tongue = hob1.open(slots, undefined as never, defaultLimits, (frame) => out.push(frame));
  const unless = <T>(value: T, then: (value: Exclude<T, CapError | Undecodable>) => void): void => {
    if (value instanceof CapError) throw value;
    if (value instanceof Undecodable) throw value.error;
    then(value as Exclude<T, CapError | Undecodable>);
  };
  const listener: IncomingOperations = {
    deliver: (to, method, heard, question) => unless(heard, ({ args }) => hearing.deliver(to, method, args, question)),
    bootstrap: () => {},
    answer: (question, value) => unless(value, (known) => hearing.answer(question, known)),
    refuse: (question, error) => hearing.refuse(question, error),
    resolve: (promise, value) => unless(value, (known) => hearing.resolve(promise, known)),
    break: (promise, error) => hearing.break(promise, error),
    drop: (id, mentions) => hearing.drop(id, mentions),
    done: (question) => hearing.done(question, false),
    abort: () => {},
  };
  const hearing = tongue;
  const ear = hob1.open(slots, listener, defaultLimits, () => {});
  try {
    if (bytes !== '') ear.receive(Buffer.from(bytes, 'base64'));
    ear.receive(text);
    tongue.flush();
  } catch (error) {
    if (error instanceof Violation) return { closed: error.code };
    if (error instanceof CapError) return { refused: error.code };
    throw error;
  }
  return {
    bytes: Buffer.concat(out.filter((frame) => typeof frame !== 'string')).toString('base64'),
    text: out.filter((frame) => typeof frame === 'string').join('\n'),
  };
}

for await (const line of createInterface({ input: process.stdin })) {
  const { bytes, text } = JSON.parse(line) as { readonly bytes: string; readonly text: string };
  process.stdout.write(`${JSON.stringify(echo(bytes, text))}\n`);
}
