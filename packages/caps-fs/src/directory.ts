/**
 * The capability itself. Each method checks the cap's terms, takes its arguments, and runs as a job on the
 * held directory.
 *
 * Promise: there is no other way in. The object is frozen and has only methods. The directory, the terms and
 * the lifetime are not in any property.
 */

import type { ByteSink, ByteSource } from '@hob/vat';
import { drivenBy, lastsUnder, type Place, withEffects, withPlace } from '@hob/vat/forwarder';
import { bytesOf } from './base/arguments.ts';
import { outward, refusal } from './base/errors.ts';
import type { FsCap } from './base/fs-cap.ts';
import { Handle } from './base/handle.ts';
import { allMethods } from './base/methods.ts';
import { drivenMethods } from './driven.ts';
import { yieldToEventLoop } from './drivers/yield.ts';
import { fsEffects } from './effects.ts';
import { append, copy, read, write } from './files/content.ts';
import { chmod, setTimes, truncate, writeAt } from './files/in-place.ts';
import { readlink, symlink } from './files/links.ts';
import { entries, list, stat } from './files/listing.ts';
import { holding, type Operation } from './files/operation.ts';
import { readMany, readText } from './files/reading.ts';
import { remove } from './files/removal.ts';
import { openSink, openSource } from './files/streams.ts';
import { mkdir, rename } from './files/tree.ts';
import { admit } from './mountable.ts';
import type { HeldDirectory } from './root/held-directory.ts';
import { Life } from './root/life.ts';
import { Slots } from './root/limits.ts';
import { type Path, parsePath } from './root/path.ts';
import { find } from './root/resolve.ts';
import { exceptTerms, onlyTerms, permit, quotaTerms, readOnlyTerms, type Terms } from './root/terms.ts';
import { edit } from './search/edit.ts';
import { glob, search, searchReport, tree } from './search/seek.ts';

/**
 * One limit for all roots of the process, because all of them share its table of descriptors. The process
 * fails with EMFILE when that table is full, at about 20,000 descriptors on the machine where this was
 * measured.
 */
export const subdirsOfProcess: Slots = new Slots('open subdirectories of the process', 1024);

// How a cap prints. These live on the prototype, so that the methods stay the only own properties.
const face = Object.freeze({
  toJSON: (): string => '[FsCap]',
  toString: (): string => '[FsCap]',
  [Symbol.for('nodejs.util.inspect.custom')]: (): string => '[FsCap]',
  /** `await using` closes the cap. */
  [Symbol.asyncDispose](this: FsCap): Promise<void> {
    return this.close();
  },
});

// Only a backstop. The collector is too late to rely on: 19,981 subdirectories were opened and forgotten, and
// none was collected before the descriptors ran out (docs/measurements/fs.md).
const forgotten = new FinalizationRegistry<Life>((life) => life.abandon());

/** Runs the operations of one cap. Each checks the terms first and then waits until it is admitted. */
class Operations {
  readonly #held: HeldDirectory;
  readonly #life: Life;

  constructor(held: HeldDirectory, life: Life) {
    this.#held = held;
    this.#life = life;
  }

  async run<R>(operation: keyof FsCap, ask: () => Operation<R>): Promise<R> {
    const held = this.#held;
    const life = this.#life;
    life.enter();
    try {
      permit(held.terms, operation);
      const job = ask();
      const { admission } = held.root;
      const { holder } = held;
      const wait = admission.enter(holder, job.holds ?? 0);
      if (wait) await wait;
      let answer: R;
      let inside = true;
      const leave = (): void => {
        if (inside) admission.leave(holder);
        inside = false;
      };
      try {
        // The cap may have closed while this operation was queued. Then it must not start.
        if (wait) refuseIfClosed(life);
        answer = await job(held, life.closing, leave);
      } finally {
        leave();
      }
      const rest = yieldToEventLoop();
      if (rest) await rest;
      return answer;
    } catch (error) {
      throw outward(error);
    } finally {
      life.leave();
    }
  }

  attenuate(operation: keyof FsCap, narrow: () => Terms): Promise<FsCap> {
    return this.run(operation, () => {
      const terms = narrow();
      return holding(bytesOf(terms.excepted), () => {
        refuseIfClosed(this.#life);
        const { directory, holder } = this.#held;
        return directoryCap({ ...this.#held, directory: directory.share(), terms, holder: holder.below() }, this.#life);
      });
    });
  }

  open<S>(operation: keyof FsCap, path: string, how: (held: HeldDirectory, path: Path) => S): Promise<S> {
    return this.run(operation, () => {
      const parsed = parsePath(path);
      return (): S => {
        refuseIfClosed(this.#life);
        return how(this.#held, parsed);
      };
    });
  }
}

/** The new cap takes over `held.directory` and drops it when the cap ends. */
export function directoryCap(held: HeldDirectory, parent?: Life, whenOver?: () => void): FsCap {
  const over = (): void => {
    held.directory.drop();
    whenOver?.();
    forgotten.unregister(life);
  };
  const life = new Life(over, parent, held.maker);

  const methods = methodsOf(held, life);
  const cap: FsCap = Object.freeze(
    Object.assign(Object.create(face) as object, methods, {
      // A symbol, so that no message can name it. The vat calls it when the grant that produced this cap ends.
      [lastsUnder]: (signal: AbortSignal) => life.lastUnder(signal),
    }),
  );
  drivenBy(
    cap,
    drivenMethods(methods, held, life, (caller) => methodsOf({ ...held, ...caller }, life)),
  );
  admit(cap, held, life);
  withPlace(cap, () => placeFor(held, life));
  withEffects(cap, () => fsEffects);
  forgotten.register(cap, life, life);
  return cap;
}

function methodsOf(held: HeldDirectory, life: Life): FsCap {
  const on = new Operations(held, life);
  const { limits } = held.root;
  return {
    read: (path, range) => on.run('read', () => read(path, range)),
    readText: (path, window) => on.run('readText', () => readText(path, window)),
    write: (path, data, options) => on.run('write', () => write(limits, path, data, options)),
    append: (path, data) => on.run('append', () => append(path, data)),
    edit: (path, edits, options) => on.run('edit', () => edit(path, edits, options)),
    list: (path = '.') => on.run('list', () => list(path)),
    entries: (path = '.', page) => on.run('entries', () => entries(path, page)),
    stat: (path, options) => on.run('stat', () => stat(path, options)),
    readMany: (paths) => on.run('readMany', () => readMany(paths)),
    writeAt: (path, offset, data) => on.run('writeAt', () => writeAt(limits, path, offset, data)),
    truncate: (path, size) => on.run('truncate', () => truncate(limits, path, size)),
    chmod: (path, mode) => on.run('chmod', () => chmod(path, mode)),
    setTimes: (path, times) => on.run('setTimes', () => setTimes(path, times)),
    symlink: (text, path) => on.run('symlink', () => symlink(text, path)),
    readlink: (path) => on.run('readlink', () => readlink(path)),
    mkdir: (path, options) => on.run('mkdir', () => mkdir(path, options)),
    remove: (path, options) => on.run('remove', () => remove(path, options)),
    rename: (from, to, options) => on.run('rename', () => rename(from, to, options)),
    copy: (from, to, options) => on.run('copy', () => copy(from, to, options)),
    tree: (path, options) => on.run('tree', () => tree(path, options)),
    searchReport: (text, options) => on.run('searchReport', () => searchReport(text, options)),
    glob: (pattern) => on.run('glob', () => glob(pattern)),
    search: (text, options) => on.run('search', () => search(text, options)),
    openRead: (path) => on.open<ByteSource>('openRead', path, (at, parsed) => openSource(at, parsed, life)),
    openWrite: (path) => on.open<ByteSink>('openWrite', path, (at, parsed) => openSink(at, parsed, life)),
    subdir: (path) => on.open<FsCap>('subdir', path, (at, parsed) => openSubdir(at, parsed, life)),
    readOnly: () => on.attenuate('readOnly', () => readOnlyTerms(held.terms)),
    only: (names) => on.attenuate('only', () => onlyTerms(held.terms, names, allMethods)),
    except: (patterns) => on.attenuate('except', () => exceptTerms(held.terms, patterns)),
    withQuota: (quota) => on.attenuate('withQuota', () => quotaTerms(held.terms, quota)),
    close: () => life.close(),
  };
}

/** For the granter. Undefined where the cap is closed. */
function placeFor({ root, directory, terms }: HeldDirectory, life: Life): Place | undefined {
  if (!life.open) return undefined;
  const readOnly = terms.writes ? {} : ({ readOnly: true } as const);
  try {
    return { kind: 'directory', name: root.kernel.pathOf(directory.fd), ...readOnly };
  } catch {
    return { kind: 'directory', ...readOnly };
  }
}

function openSubdir(held: HeldDirectory, path: Path, life: Life): FsCap {
  const { kernel, subdirs } = held.root;
  const giveBack = subdirs.take(held.holder);
  try {
    using found = find(held, { ...path, directory: true });
    // Its own descriptor: the cap names this directory and not the path to it, and `..` stops here.
    const directory = new Handle(kernel, kernel.openDirectory(found.fd, '.'));
    return directoryCap({ ...held, directory, holder: held.holder.below() }, life, giveBack);
  } catch (error) {
    giveBack();
    throw error;
  }
}

/** The cap may have closed while an operation was queued. A closed cap makes nothing new. */
function refuseIfClosed(life: Life): void {
  if (!life.open) throw refusal('CLOSED');
}
