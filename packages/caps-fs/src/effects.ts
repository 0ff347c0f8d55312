/** The effects of the operations of a directory, for the layer that asks people about calls. */
import type { Effect } from '@hob/vat/forwarder';
import type { FsCap } from './base/fs-cap.ts';

const reads: Effect = { class: 'A' };
/** A stream goes on: an equal part is no repetition. */
const goesOn = { idempotent: false } as const;
const adds: Effect = { class: 'B', undo: 'easy' };
/** The earlier content is gone, unless somebody kept it. */
const replaces: Effect = { class: 'B', undo: 'hard' };

/** Also of the streams that a directory gives out (`next`, `return`, `throw`). */
export const fsEffects: Readonly<Record<keyof FsCap | 'next' | 'return' | 'throw', Effect>> = Object.freeze({
  read: reads,
  readText: reads,
  readMany: reads,
  list: reads,
  entries: reads,
  stat: reads,
  readlink: reads,
  glob: reads,
  search: reads,
  searchReport: reads,
  tree: reads,
  openRead: reads,
  subdir: reads,
  readOnly: reads,
  only: reads,
  except: reads,
  withQuota: reads,
  close: reads,
  mkdir: adds,
  symlink: adds,
  append: adds,
  copy: adds,
  chmod: adds,
  setTimes: adds,
  write: replaces,
  writeAt: replaces,
  truncate: replaces,
  edit: replaces,
  rename: replaces,
  openWrite: replaces,
  remove: replaces,
  next: { ...replaces, ...goesOn },
  return: { ...reads, ...goesOn },
  throw: { ...reads, ...goesOn },
});
