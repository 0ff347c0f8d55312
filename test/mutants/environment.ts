/** The environment in which a Node process, and each Node process it starts, runs without the mechanism of a mutant. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const APPLY: string = pathToFileURL(join(import.meta.dirname, 'apply.mjs')).href;

/**
 * Variables for a child process that inherits nothing else: the mutant of this process, and the folder of compiled
 * modules, with which a program of Hob starts in half the time.
 */
export const inherited = (): {
  readonly HOB_MUTANT?: string;
  readonly NODE_OPTIONS?: string;
  readonly NODE_COMPILE_CACHE?: string;
} => {
  const { HOB_MUTANT: mutant, NODE_COMPILE_CACHE } = process.env;
  return {
    ...(mutant === undefined ? {} : environmentOf(mutant)),
    ...(NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE }),
  };
};

export function environmentOf(mutant: string): { readonly HOB_MUTANT: string; readonly NODE_OPTIONS: string } {
  const { NODE_OPTIONS = '' } = process.env;
  const options = NODE_OPTIONS.includes(APPLY) ? NODE_OPTIONS : `${NODE_OPTIONS} --import=${APPLY}`.trim();
  return { HOB_MUTANT: mutant, NODE_OPTIONS: options };
}
