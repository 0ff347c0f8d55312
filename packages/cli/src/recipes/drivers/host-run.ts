/** How a command line has an agent host started: as it is, by a recipe, or in a box. */
import { ownCommand } from '../../drivers/own-code.ts';
import { stateOf } from '../../drivers/places.ts';
import { Mistake } from '../../line/mistake.ts';
import { type Given, isGiven, textOf } from '../../line/verb.ts';
import { recipeFor, recipeOf } from '../all.ts';
import { VERBS } from '../our-verbs.ts';
import type { Recipe } from '../recipe.ts';
import type { RecipeRun } from './run.ts';

/** The choice of the command line. */
export interface HostRun {
  /** The recipe that was named, or that of the program in a box. Undefined: the program runs as it is. */
  readonly recipe: Recipe | undefined;
  readonly inBox: boolean;
  /** In a box without a recipe the host keeps its own tools. */
  readonly ownTools: boolean;
  readonly run: Omit<RecipeRun, 'entry'>;
}

/** Reads `--recipe`, `--box`, `--model-url` and `--model`. Errors: `Mistake`. */
export function hostRun(given: Given, say: (text: string) => void): HostRun {
  const [named, inBox] = [textOf(given, 'recipe'), isGiven(given, 'box')];
  const [modelUrl, modelName] = [textOf(given, 'modelUrl'), textOf(given, 'model')];
  const run = { words: given.operands, state: stateOf(given), server: [...ownCommand(), 'mcp'], verbs: VERBS, say };
  if (named === undefined && !inBox) {
    if (modelUrl !== undefined || modelName !== undefined)
      throw new Mistake('--model-url and --model go with --recipe or --box', 2);
    // Nothing of it is used.
    return { recipe: undefined, inBox, ownTools: true, run: { ...run, upstream: new URL('http://127.0.0.1') } };
  }
  const recipe = named === undefined ? recipeFor(given.operands[0] ?? '') : recipeOf(named);
  const address = modelUrl ?? recipe.model;
  if (!URL.canParse(address)) throw new Mistake('--model-url is no address: write https://HOST/PATH', 2);
  if (recipe.needsModelName && modelName === undefined)
    throw new Mistake(`${recipe.program} has the name of its model in its configuration: name it with --model`, 2);
  if (named !== undefined && recipe.notTight !== undefined) say(`hob: this recipe is not tight: ${recipe.notTight}`);
  const upstream = new URL(address);
  return { recipe, inBox, ownTools: named === undefined, run: { ...run, upstream, ...(modelName === undefined ? {} : { modelName }) } }; // biome-ignore format: one line
}
