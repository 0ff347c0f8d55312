/** How tests start the command `hob`. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const resolveHook = new URL('../scripts/resolve.mjs', import.meta.url).href;
const sources = fileURLToPath(new URL('../packages/cli/src/main.ts', import.meta.url));

/**
 * Returns the arguments of `node` that start `hob`. In a deep run without FILTER they name the packed and installed
 * command, as users have it. This command starts in two thirds of the time. In other runs they name the sources. A
 * mutant changes the sources, so its tests run those. If npm is offline, nothing is installed.
 */
export function hobProgram(
  { HOB_TEST_INSTALLED: folder = '', HOB_MUTANT: mutant }: Readonly<Record<string, string | undefined>> = process.env,
): readonly string[] {
  const installed = join(folder, 'node_modules', '@hob', 'cli', 'dist', 'main.js');
  return folder !== '' && mutant === undefined && existsSync(installed) ? [installed] : ['--import', resolveHook, sources]; // biome-ignore format: one line
}
