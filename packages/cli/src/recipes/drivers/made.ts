/** Makes the files of a recipe that come out of the host's own program: `codex debug models`. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Mistake } from '../../line/mistake.ts';
import type { Recipe } from '../recipe.ts';

const MOST_BYTES = 32 * 1024 * 1024;
/** A start takes long on a machine that is busy. */
const MOST_MS = 120_000;

/** Where the program runs. */
interface MadeIn {
  readonly program: string;
  readonly modelName: string;
  readonly cwd: string;
  readonly env: Readonly<NodeJS.ProcessEnv>;
}

/** The texts by their paths below the home. Errors: `Mistake` (the program cannot be run, or prints something else). */
export async function makeFiles(
  { made = [], version }: Recipe,
  { program, modelName, cwd, env }: MadeIn,
): Promise<Readonly<Record<string, string>>> {
  const texts: Record<string, string> = {};
  for (const { file, args, of } of made) {
    const output = await new Promise<string>((resolve, reject) => {
      const options = { cwd, env, maxBuffer: MOST_BYTES, timeout: MOST_MS };
      const child = execFile(program, [...args], options, (error, stdout) => {
        if (error === null) resolve(stdout);
        else reject(new Mistake(`${JSON.stringify([program, ...args].join(' '))} failed (${error.code ?? error.signal}): the recipe needs its output`)); // biome-ignore format: one line
      });
      child.stdin?.end();
    });
    try {
      texts[file] = of(output, modelName);
    } catch {
      throw new Mistake(`${JSON.stringify([program, ...args].join(' '))} printed something that this recipe does not know: use release ${version}`); // biome-ignore format: one line
    }
  }
  return texts;
}

/** The same with the program in PATH, in a new home that goes again. Errors: as above. */
export async function makeFilesOf(recipe: Recipe, modelName: string): Promise<Readonly<Record<string, string>>> {
  const home = mkdtempSync(join(tmpdir(), 'hob-recipe-'));
  try {
    const env = { PATH: process.env['PATH'], HOME: home, TMPDIR: home };
    return await makeFiles(recipe, { program: recipe.program, modelName, cwd: home, env });
  } finally {
    rmSync(home, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }
}
