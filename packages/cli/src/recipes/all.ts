/** The recipes. */
import { Mistake } from '../line/mistake.ts';
import { claude } from './claude.ts';
import { codex } from './codex.ts';
import { gemini } from './gemini.ts';
import { hermes } from './hermes.ts';
import { opencode } from './opencode.ts';
import type { Recipe } from './recipe.ts';

/** In the order in which they are listed. */
export const RECIPES: readonly Recipe[] = [claude, codex, opencode, gemini, hermes];

/** The recipe of that name. Errors: `Mistake`. */
export function recipeOf(name: string): Recipe {
  const recipe = RECIPES.find((each) => each.name === name);
  if (recipe === undefined)
    throw new Mistake(`there is no recipe for ${JSON.stringify(name)}: there are ${RECIPES.map((each) => each.name).join(', ')}`, 2); // biome-ignore format: one line
  return recipe;
}

const BOXED = RECIPES.filter(({ setUpInBox }) => setUpInBox !== undefined);

/** The recipe of the host with that program, for a box. Errors: `Mistake`. */
export function recipeFor(word: string): Recipe {
  const name = word.slice(word.lastIndexOf('/') + 1);
  const recipe = BOXED.find(({ program }) => program === name);
  const { program, noBox } = RECIPES.find((each) => each.program === name) ?? {};
  if (noBox !== undefined) throw new Mistake(`there is no box for ${program}: ${noBox}. hob start --recipe ${program} works`, 2); // biome-ignore format: one line
  if (recipe === undefined)
    throw new Mistake(`a box runs agent hosts that Hob knows how to lead to their model: ${BOXED.map(({ program }) => program).join(', ')}`, 2); // biome-ignore format: one line
  return recipe;
}
