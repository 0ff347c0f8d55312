/** The recipes. */
import { Mistake } from '../line/mistake.ts';
import { claude } from './claude.ts';
import { gemini } from './gemini.ts';
import { opencode } from './opencode.ts';
import type { Recipe } from './recipe.ts';

/** In the order in which they are listed. */
export const RECIPES: readonly Recipe[] = [claude, opencode, gemini];

/** The recipe of that name. Errors: `Mistake`. */
export function recipeOf(name: string): Recipe {
  const recipe = RECIPES.find((each) => each.name === name);
  if (recipe === undefined)
    throw new Mistake(`there is no recipe for ${JSON.stringify(name)}: there are ${RECIPES.map((each) => each.name).join(', ')}`, 2); // biome-ignore format: one line
  return recipe;
}
