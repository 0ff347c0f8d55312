/**
 * Files as streams.
 *
 * Promise: every stream ends. It ends when its holder ends it, when the cap that it came from closes, or when
 * nobody uses it for `maxIdleMs`. A writer that ends in any way but `close()` leaves nothing behind.
 */

import type { ByteSink, ByteSource } from '@hob/vat';
import { handOver } from '@hob/vat';
import { lastsUnder } from '@hob/vat/forwarder';
import { takeBytes, takeCount } from '../base/arguments.ts';
import { outward, refusal } from '../base/errors.ts';
import type { Alarm, Kernel } from '../base/kernel.ts';
import type { HeldDirectory } from '../root/held-directory.ts';
import { Life } from '../root/life.ts';
import type { Path } from '../root/path.ts';
import { openFile } from '../root/resolve.ts';
import { Draft } from './draft.ts';

const defaultChunk = 256 * 1024;
const maxChunk = 1024 * 1024;
const maxUnsettled = 4 * 1024 * 1024;

export function openSource(held: HeldDirectory, path: Path, parent: Life): ByteSource {
  const { kernel, limits, streams } = held.root;
  const giveBack = streams.take(held.holder);
  try {
    const file = openFile(held, path);
    const life = new Life(
      () => {
        idle.stop();
        file[Symbol.dispose]();
        giveBack();
      },
      parent,
      held.maker,
    );
    const idle = new IdleEnd(kernel, limits.maxIdleMs, life);
    let position = 0;
    let pulling = false;
    let atEnd = false;
    return Object.freeze({
      async next(max?: number): Promise<Uint8Array | undefined> {
        const length = Math.min(takeCount(max, 'max', 1) ?? defaultChunk, maxChunk);
        if (atEnd) return undefined;
        idle.use();
        life.enter();
        const mine = !pulling;
        try {
          if (!mine) throw refusal('BUSY', 'one next() at a time');
          pulling = true;
          // A new buffer each time: the receiver may still be encoding the last one.
          const bytes = kernel.memory(length);
          const got = await kernel.read(file.fd, bytes, position);
          position += got;
          if (got === 0) atEnd = true;
          return got === 0 ? undefined : handOver(got === length ? bytes : bytes.slice(0, got));
        } catch (error) {
          throw outward(error);
        } finally {
          if (mine) pulling = false;
          life.leave();
          if (atEnd) void life.close();
        }
      },
      async return(): Promise<void> {
        atEnd = true;
        await life.close();
      },
      [lastsUnder]: (signal: AbortSignal) => life.lastUnder(signal),
    });
  } catch (error) {
    giveBack();
    throw error;
  }
}

export function openSink(held: HeldDirectory, path: Path, parent: Life): ByteSink {
  const { kernel, limits, streams } = held.root;
  const giveBack = streams.take(held.holder);
  try {
    const draft = Draft.open(held, path, {});
    const life = new Life(
      () => {
        idle.stop();
        try {
          draft.end();
        } finally {
          giveBack();
        }
      },
      parent,
      held.maker,
    );
    const idle = new IdleEnd(kernel, limits.maxIdleMs, life);
    let tail: Promise<unknown> = Promise.resolve();
    let unsettled = 0;
    let accepted = 0;
    let failure: { readonly error: unknown } | undefined;
    let closing: Promise<void> | undefined;
    const finish = async (): Promise<void> => {
      idle.use();
      life.enter();
      try {
        await tail;
        if (failure) throw failure.error;
        await draft.commit();
      } catch (error) {
        throw outward(error);
      } finally {
        life.leave();
        await life.close();
      }
    };
    return Object.freeze({
      async write(chunk: Uint8Array): Promise<void> {
        if (closing) throw refusal('CLOSED');
        idle.use();
        life.enter();
        let size = 0;
        try {
          const bytes = takeBytes(chunk, maxChunk, 'bytes of one chunk');
          if (unsettled + bytes.length > maxUnsettled)
            throw refusal('FS_LIMIT', `${maxUnsettled} bytes wait already, await some writes first`);
          if (accepted + bytes.length > limits.maxStreamBytes) {
            throw refusal('FS_LIMIT', `maxStreamBytes ${limits.maxStreamBytes}`);
          }
          size = bytes.length;
          unsettled += size;
          accepted += size;
          const mine = tail.then(() => {
            // After a failed chunk no later one is written: the file would have a hole.
            if (failure) throw failure.error;
            return draft.write(bytes);
          });
          tail = mine.catch((error: unknown) => {
            failure ??= { error };
          });
          await mine;
        } catch (error) {
          throw outward(error);
        } finally {
          unsettled -= size;
          life.leave();
        }
      },
      close: (): Promise<void> => (closing ??= finish()),
      async abort(): Promise<void> {
        await life.close();
      },
      [lastsUnder]: (signal: AbortSignal) => life.lastUnder(signal),
    });
  } catch (error) {
    giveBack();
    throw error;
  }
}

/** Closes a life that is not used for `ms`. */
class IdleEnd {
  readonly #ms: number;
  readonly #life: Life;
  readonly #alarm: Alarm;
  #ended = false;

  constructor(kernel: Kernel, ms: number, life: Life) {
    this.#ms = ms;
    this.#life = life;
    this.#alarm = kernel.after(ms, () => {
      this.#ended = true;
      void life.close();
    });
  }

  /** Restarts the time. Throws if the life has ended already. Called at each use. */
  use(): void {
    if (this.#ended) throw refusal('FS_LIMIT', `maxIdleMs ${this.#ms}`);
    if (this.#life.open) this.#alarm.again();
  }

  stop(): void {
    this.#alarm.stop();
  }
}
