/** The table in use: `HOB_MUTANTS` names another file for the test of `npm run mutants`. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Mutant } from './mutant.ts';

const ROOT: string = join(import.meta.dirname, '..', '..');

export async function tableOf(): Promise<readonly Mutant[]> {
  const file = join(ROOT, process.env['HOB_MUTANTS'] || 'test/mutants/index.ts');
  return (await import(pathToFileURL(file).href)).MUTANTS;
}
