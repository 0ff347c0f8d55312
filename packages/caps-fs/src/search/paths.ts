/** Finds the paths of a tree that match a pattern. Imports only modules that import nothing. */
import type { Tree } from '../base/fs-cap.ts';
import type { FileKind, Kernel } from '../base/kernel.ts';
import { descend, type SearchScope, Stop, type VisitedEntry } from './descent.ts';
import { parseGlob } from './glob.ts';
import type { StepBudget } from './step-budget.ts';

/** Links are listed like anything else, but not entered. */
export function paths(
  kernel: Kernel,
  ground: SearchScope,
  pattern: string,
  limit: number,
  budget?: StepBudget,
): string[] {
  const glob = parseGlob(pattern, { budget });
  const directoriesOnly = pattern.endsWith('/');
  const states = [glob.start];
  const found: string[] = [];
  descend(kernel, ground, {
    open: (_dir, names) => {
      const name = names.at(-1);
      if (name !== undefined) states.push(glob.step(states.at(-1) ?? [], name));
    },
    passes: (name, kind) => {
      const state = glob.step(states.at(-1) ?? [], name);
      return !(kind === 'dir' && glob.goesOn(state)) && !glob.accepts(state);
    },
    entry: ({ names, kind }) => {
      const state = glob.step(states.at(-1) ?? [], names.at(-1) ?? '');
      if (glob.accepts(state) && (!directoriesOnly || kind === 'dir')) {
        if (found.length === limit) throw new Stop('FS_LIMIT', `maxList ${limit}, give a narrower pattern`);
        found.push(names.join('/'));
      }
      return glob.goesOn(state);
    },
    close: () => {
      states.pop();
    },
  });
  return found;
}

/** Plain data that was checked before. */
export interface TreeQuery {
  readonly from: readonly string[];
  readonly depth: number;
  readonly limit: number;
}

/** Thrown when the caller's limit is reached. */
const full: unique symbol = Symbol('full');

/** Everything beneath the start, each directory before what is in it. */
export function treeOf(kernel: Kernel, ground: SearchScope, { from, depth, limit }: TreeQuery): Tree {
  const entries: { path: string; kind: FileKind }[] = [];
  let truncated = false;
  const entry = ({ names, kind }: VisitedEntry): boolean => {
    if (entries.length === limit) throw full;
    entries.push({ path: names.join('/'), kind });
    return names.length - from.length < depth;
  };
  try {
    descend(kernel, ground, { entry }, from);
  } catch (stopped) {
    if (stopped !== full) throw stopped;
    truncated = true;
  }
  return { entries, truncated };
}
