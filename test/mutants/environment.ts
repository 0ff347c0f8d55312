/** The environment in which a Node process, and each Node process it starts, runs without the mechanism of a mutant. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const APPLY: string = pathToFileURL(join(import.meta.dirname, 'apply.mjs')).href;

/** For a child that inherits nothing else: the mechanism that is left out of this process is left out of the child too. */
export const inheritedMutant = (): { readonly HOB_MUTANT?: string; readonly NODE_OPTIONS?: string } =>
  process.env['HOB_MUTANT'] === undefined ? {} : environmentOf(process.env['HOB_MUTANT']);

export function environmentOf(mutant: string): { readonly HOB_MUTANT: string; readonly NODE_OPTIONS: string } {
  const { NODE_OPTIONS = '' } = process.env;
  const options = NODE_OPTIONS.includes(APPLY) ? NODE_OPTIONS : `${NODE_OPTIONS} --import=${APPLY}`.trim();
  return { HOB_MUTANT: mutant, NODE_OPTIONS: options };
}
