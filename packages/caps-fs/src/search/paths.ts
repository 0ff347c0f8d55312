/** Finds the paths of a tree that match a pattern. Imports only modules that import nothing. */
import type { Kernel } from '../base/kernel.ts';
import { descend, type Ground, Stop } from './descent.ts';
import { parseGlob } from './glob.ts';
import type { Work } from './work.ts';

/** Links are listed like anything else, but not entered. */
export function paths(kernel: Kernel, ground: Ground, pattern: string, limit: number, work?: Work): string[] {
  const glob = parseGlob(pattern, { work });
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
