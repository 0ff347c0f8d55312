/** The environment in which a Node process, and each Node process it starts, runs without the mechanism of a mutant. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const APPLY: string = pathToFileURL(join(import.meta.dirname, 'apply.mjs')).href;

export function environmentOf(mutant: string): { readonly HOB_MUTANT: string; readonly NODE_OPTIONS: string } {
  const { NODE_OPTIONS = '' } = process.env;
  const options = NODE_OPTIONS.includes(APPLY) ? NODE_OPTIONS : `${NODE_OPTIONS} --import=${APPLY}`.trim();
  return { HOB_MUTANT: mutant, NODE_OPTIONS: options };
}
