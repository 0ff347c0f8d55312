/**
 * The capability itself. Each method checks the cap's terms, takes its arguments, and runs as a job on the
 * held directory.
 *
 * Promise: there is no other way in. The object is frozen and has only methods. The directory, the terms and
 * the lifetime are not in any property.
 */
import { lastsUnder } from '@hob/vat';
import { isBytes } from './base/arguments.ts';
import type { ByteSink, ByteSource } from './base/bytes.ts';
import { outward, refusal } from './base/errors.ts';
import type { FsCap } from './base/fs-cap.ts';
import { Handle } from './base/handle.ts';
import { yieldToEventLoop } from './drivers/yield.ts';
import { append, copy, type Job, read, readText, write } from './files/content.ts';
import { entries, list, stat } from './files/listing.ts';
import { openSink, openSource } from './files/streams.ts';
import { mkdir, remove, rename } from './files/tree.ts';
import { admit } from './mountable.ts';
import { Life } from './root/life.ts';
import { Slots } from './root/limits.ts';
import { parsePath } from './root/path.ts';
import type { Place } from './root/place.ts';
import { find } from './root/resolve.ts';
import { exceptTerms, onlyTerms, permit, quotaTerms, readOnlyTerms, type Terms } from './root/terms.ts';
import { edit } from './search/edit.ts';
import { glob, search } from './search/seek.ts';

/**
 * One limit for all roots of the process, because all of them share its table of descriptors. The process
 * fails with EMFILE when that table is full, at about 20,000 descriptors on the machine where this was
 * measured.
 */
export const subdirsOfProcess: Slots = new Slots('open subdirectories of the process', 1024);

const operations: ReadonlySet<string> = new Set<keyof FsCap>([
  'read',
  'readText',
  'write',
  'append',
  'edit',
  'list',
  'entries',
  'stat',
  'mkdir',
  'remove',
  'rename',
  'copy',
  'glob',
  'search',
  'openRead',
  'openWrite',
  'subdir',
  'readOnly',
  'only',
  'except',
  'withQuota',
  'close',
]);

// How a cap prints. These live on the prototype, so that the methods stay the only own properties.
const face = Object.freeze({
  toJSON: (): string => '[FsCap]',
  toString: (): string => '[FsCap]',
  [Symbol.for('nodejs.util.inspect.custom')]: (): string => '[FsCap]',
});

// Only a backstop. The collector is too late to rely on: 19,981 subdirectories were opened and forgotten, and
// none was collected before the descriptors ran out (docs/measurements/fs.md).
const forgotten = new FinalizationRegistry<Life>((life) => life.abandon());

/** The new cap takes over `place.directory` and drops it when the cap ends. */
export function directoryCap(place: Place, parent?: Life, whenOver?: () => void): FsCap {
  const life = new Life(() => {
    place.directory.drop();
    whenOver?.();
    forgotten.unregister(life);
  }, parent);

  const run = async <R>(operation: keyof FsCap, ask: () => Job<R>, bytes = 0): Promise<R> => {
    life.enter();
    try {
      permit(place.terms, operation);
      const job = ask();
      const { admission } = place.root;
      const wait = admission.enter(bytes);
      if (wait) await wait;
      let answer: R;
      try {
        // The cap may have closed while this operation was queued. Then it must not start.
        if (wait) refuseIfClosed(life);
        answer = await job(place, life.closing);
      } finally {
        admission.leave();
      }
      const rest = yieldToEventLoop();
      if (rest) await rest;
      return answer;
    } catch (error) {
      throw outward(error);
    } finally {
      life.leave();
    }
  };

  const attenuate = (operation: keyof FsCap, narrow: () => Terms): Promise<FsCap> =>
    run(operation, () => {
      const terms = narrow();
      return () => {
        refuseIfClosed(life);
        return directoryCap({ ...place, directory: place.directory.share(), terms }, life);
      };
    });

  const open = <S>(
    operation: keyof FsCap,
    path: string,
    how: (place: Place, path: ReturnType<typeof parsePath>) => S,
  ) =>
    run(operation, () => {
      const parsed = parsePath(path);
      return (): S => {
        refuseIfClosed(life);
        return how(place, parsed);
      };
    });

  const { limits } = place.root;
  const cap: FsCap = Object.freeze(
    Object.assign(Object.create(face) as object, {
      read: (path, range) => run('read', () => read(path, range)),
      readText: (path, window) => run('readText', () => readText(path, window)),
      write: (path, data, options) => run('write', () => write(limits, path, data, options), lengthOf(data)),
      append: (path, data) => run('append', () => append(path, data), lengthOf(data)),
      edit: (path, edits, options) => run('edit', () => edit(path, edits, options)),
      list: (path = '.') => run('list', () => list(path)),
      entries: (path = '.', page) => run('entries', () => entries(path, page)),
      stat: (path) => run('stat', () => stat(path)),
      mkdir: (path, options) => run('mkdir', () => mkdir(path, options)),
      remove: (path, options) => run('remove', () => remove(path, options)),
      rename: (from, to) => run('rename', () => rename(from, to)),
      copy: (from, to) => run('copy', () => copy(from, to)),
      glob: (pattern) => run('glob', () => glob(pattern)),
      search: (text, options) => run('search', () => search(text, options)),
      openRead: (path) => open<ByteSource>('openRead', path, (at, parsed) => openSource(at, parsed, life)),
      openWrite: (path) => open<ByteSink>('openWrite', path, (at, parsed) => openSink(at, parsed, life)),
      subdir: (path) => open<FsCap>('subdir', path, (at, parsed) => openSubdir(at, parsed, life)),
      readOnly: () => attenuate('readOnly', () => readOnlyTerms(place.terms)),
      only: (names) => attenuate('only', () => onlyTerms(place.terms, names, operations)),
      except: (patterns) => attenuate('except', () => exceptTerms(place.terms, patterns)),
      withQuota: (quota) => attenuate('withQuota', () => quotaTerms(place.terms, quota)),
      close: () => life.close(),
      // A symbol, so that no message can name it. The vat calls it when the grant that produced this cap
      // ends.
      [lastsUnder]: (signal: AbortSignal) => life.lastUnder(signal),
    } satisfies FsCap & { [lastsUnder](signal: AbortSignal): Promise<void> }),
  );
  admit(cap, place, life);
  forgotten.register(cap, life, life);
  return cap;
}

function openSubdir(place: Place, path: ReturnType<typeof parsePath>, life: Life): FsCap {
  const { kernel, subdirs } = place.root;
  const giveBack = subdirs.take();
  try {
    using found = find(place, { ...path, directory: true });
    // Its own descriptor: the cap names this directory and not the path to it, and `..` stops here.
    const directory = new Handle(kernel, kernel.openDirectory(found.fd, '.'));
    return directoryCap({ ...place, directory }, life, giveBack);
  } catch (error) {
    giveBack();
    throw error;
  }
}

/** The length for the admission queue. Other values count as 0, because `takeBytes` refuses them. */
function lengthOf(data: unknown): number {
  return typeof data === 'string' || isBytes(data) ? data.length : 0;
}

/** The cap may have closed while an operation was queued. A closed cap makes nothing new. */
function refuseIfClosed(life: Life): void {
  if (!life.open) throw refusal('CLOSED');
}
