/**
 * Makes the weights of the learned reading from the texts of `test/crisis`, and writes `src/crisis/learned/weights.ts`:
 *
 *     npm run -s node -- packages/firewall/test/crisis/teach.ts
 *
 * Logistic regression with AdaGrad (Duchi et al., 2011). Rare features weigh more (inverse document frequency). Each
 * text is there a second time with typos. The limit is that above which so many ordinary texts lie that the model has
 * not seen (cross validation). Sets that measure it are never read here.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { BUCKETS, featuresOf } from '../../src/crisis/learned/features.ts';
import { FEWEST, scoreOf } from '../../src/crisis/learned/score.ts';
import { textOf } from '../../src/crisis/learned/table.ts';
import { windowsOf } from '../../src/crisis/learned/windows.ts';
import { phraseIn } from '../../src/crisis/phrases.ts';
import { folded } from '../../src/crisis/reading/folded.ts';
import { viewsOf } from '../../src/crisis/reading/views.ts';
import { FORMS } from './forms.ts';

/** The sets that it learns from. */
const TAUGHT = [
  'first',
  'second',
  'third',
  'fourth',
  'fifth',
  'sixth',
  'seventh',
  'eighth',
  'ninth',
  'tenth',
  'eleventh',
  'twelfth',
  'taught',
  'taught-more',
  'taught-last',
  'taught-everyday',
  'taught-prose',
  'taught-notes',
  'taught-rescue',
];
/** News, fiction and lessons about danger are neither of both. */
const OTHERS = ['ordinary', 'misleading', 'wordplay'];
/** The share of ordinary texts that may lie above the limit, besides those that have a phrase. */
const FALSE_ALARMS = 0.018;
/** The share of texts with a phrase about danger that may lie below the score of a text that is ordinary in spite of it. */
const TAKEN_FOR_ORDINARY = 0.01;
/** Most ordinary texts of the other sets were written to be mistaken, so they do not say how often a text is. */
const isUsual = (set: string): boolean => !set.startsWith('taught');

/** A feature of one text alone says nothing about others. Each text is there twice. */
const OFTEN_ENOUGH = 7;

const [EPOCHS, PACE, SHRINK, FOLDS, IDF_SCALE] = [16, 0.3, 1e-5, 4, 6] as const;

export interface Example {
  readonly text: string;
  readonly set: string;
  readonly kind: string;
  /** 1 for danger. */
  readonly is: 0 | 1;
  /** The features of each window of the text. */
  readonly windows: readonly ReadonlySet<number>[];
}

interface Model {
  readonly weights: Float64Array;
  readonly bias: number;
}

/** The same numbers in the same order each time. */
function numbers(): () => number {
  let state = 1;
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) | 0;
    return (state >>> 0) / 2 ** 32;
  };
}

/** The views of a text are much alike, so the first one is enough to learn from. */
const read = (text: string): readonly ReadonlySet<number>[] =>
  windowsOf(folded(viewsOf(text)[0] as string)).map(featuresOf);

function examples(): readonly Example[] {
  return TAUGHT.flatMap((set) =>
    readdirSync(new URL(set, import.meta.url)).flatMap((file) => {
      const all = JSON.parse(readFileSync(new URL(`${set}/${file}`, import.meta.url), 'utf8')) as Record<string, string[]>; // biome-ignore format: one line
      return ['danger', ...OTHERS].flatMap((kind) =>
        (all[kind] ?? []).flatMap((text): Example[] => {
          const is = kind === 'danger' ? 1 : 0;
          const misspelt = FORMS['misspelt']?.(text) ?? text;
          return [
            { text, set, kind, is, windows: read(text) },
            { text, set, kind: 'misspelt', is, windows: read(misspelt) },
          ];
        }),
      );
    }),
  );
}

function shuffle(order: number[], next: () => number): void {
  for (let at = order.length - 1; at > 0; at -= 1) {
    const other = Math.floor(next() * (at + 1));
    [order[at], order[other]] = [order[other] as number, order[at] as number];
  }
}

function learn(from: readonly Example[], next: () => number): Model {
  const rarity = new Float64Array(BUCKETS);
  const all = from.flatMap(({ windows, is }) => windows.map((features) => ({ features, is })));
  for (const { features } of all) for (const feature of features) (rarity[feature] as number) += 1;
  const known = [...rarity.keys()].filter((feature) => (rarity[feature] as number) >= OFTEN_ENOUGH);
  // The values of all known features lie in one array without gaps, and the three values of a feature lie side by side.
  // Teaching mostly waits for memory, and this layout halved its time.
  const placeOf = new Int32Array(BUCKETS).fill(-1);
  for (const [place, feature] of known.entries()) placeOf[feature] = 3 * place;
  const parts = all.map(({ features, is }) => ({
    places: Int32Array.from(features, (feature) => placeOf[feature] as number).filter((place) => place >= 0),
    is,
  }));
  /** Three values for each known feature: its rarity, its weight and its pace. */
  const values = new Float64Array(3 * known.length);
  for (const [place, feature] of known.entries()) {
    values[3 * place] = (Math.log((1 + parts.length) / (1 + (rarity[feature] as number))) + 1) / IDF_SCALE;
    values[3 * place + 2] = 1e-8;
  }
  let [bias, biasPace] = [0, 1e-8];
  const danger = parts.filter(({ is }) => is === 1).length;
  // Both kinds count for half.
  const worth = [parts.length / (2 * (parts.length - danger)), parts.length / (2 * danger)] as const;
  const order = parts.map((_, at) => at);
  for (let epoch = 0; epoch < EPOCHS; epoch += 1) {
    shuffle(order, next);
    for (const at of order) {
      const { places, is } = parts[at] as (typeof parts)[number];
      const length = Math.sqrt(Math.max(places.length, FEWEST));
      let sum = 0;
      for (const place of places) sum += (values[place + 1] as number) * (values[place] as number);
      const error = (1 / (1 + Math.exp(-(sum / length + bias))) - is) * worth[is];
      biasPace += error * error;
      bias -= (PACE * error) / Math.sqrt(biasPace);
      const share = error / length;
      for (const place of places) {
        const weight = values[place + 1] as number;
        const slope = share * (values[place] as number) + SHRINK * weight;
        const pace = (values[place + 2] as number) + slope * slope;
        values[place + 2] = pace;
        values[place + 1] = weight - (PACE * slope) / Math.sqrt(pace);
      }
    }
  }
  const weights = new Float64Array(BUCKETS);
  for (const [place, feature] of known.entries())
    weights[feature] = (values[3 * place + 1] as number) * (values[3 * place] as number);
  return { weights, bias };
}

/** The score of the window that is most like danger. */
const score = ({ weights, bias }: Model, { windows }: Example): number =>
  Math.max(...windows.map((features) => scoreOf(features, (feature) => weights[feature] as number, bias)));

/** The scores of texts by models that have not seen them. */
function crossValidated(all: readonly Example[], next: () => number): ReadonlyMap<Example, number> {
  const folds = new Map<string, number>();
  for (const { text } of all) if (!folds.has(text)) folds.set(text, Math.floor(next() * FOLDS));
  const scores = new Map<Example, number>();
  for (let fold = 0; fold < FOLDS; fold += 1) {
    const model = learn(all.filter(({ text }) => folds.get(text) !== fold), next); // biome-ignore format: one line
    for (const one of all) if (folds.get(one.text) === fold && one.kind !== 'misspelt') scores.set(one, score(model, one)); // biome-ignore format: one line
  }
  return scores;
}

export interface Learned {
  readonly weights: Int8Array;
  readonly scale: number;
  readonly bias: number;
}

/** Learns from all texts. */
export function learned(all: readonly Example[] = examples()): Learned {
  const { weights, bias } = learn(all, numbers());
  const sizes = weights
    .filter((weight) => weight !== 0)
    .map(Math.abs)
    .sort();
  const scale = (sizes[Math.floor(sizes.length * 0.999)] as number) / 127;
  const rounded = Int8Array.from(weights, (weight) => Math.sign(weight) * Math.min(127, Math.max(1, Math.round(Math.abs(weight) / scale)))); // biome-ignore format: one line
  return { weights: rounded, scale, bias };
}

interface Limits {
  readonly limit: number;
  readonly ordinary: number;
  /** Of texts that the model has not seen. */
  readonly missed: number;
}

/** The limits, by scores of texts that a model has not seen. */
function limitsFor(all: readonly Example[]): Limits {
  const scores = crossValidated(all, numbers());
  const of = (fits: (one: Example) => boolean): number[] => [...scores].filter(([one]) => fits(one)).map(([, score]) => score); // biome-ignore format: one line
  const usual = of(({ kind, set }) => kind === 'ordinary' && isUsual(set)).sort((a, b) => b - a);
  const limit = usual[Math.floor(usual.length * FALSE_ALARMS)] as number;
  const danger = of(({ is }) => is === 1);
  const named = of(({ is, text }) => is === 1 && viewsOf(text).some((view) => phraseIn(view) !== undefined)).sort((a, b) => a - b); // biome-ignore format: one line
  const ordinary = named[Math.floor(named.length * TAKEN_FOR_ORDINARY)] as number;
  return { limit, ordinary, missed: danger.filter((one) => one <= limit).length / danger.length };
}

if (import.meta.main) {
  const all = examples();
  const { weights, scale, bias } = learned(all);
  const { limit, ordinary, missed } = limitsFor(all);
  const text = `/** Made by test/crisis/teach.ts: a table, see table.ts. */
export const WEIGHTS: string =
  '${textOf(weights)}';
/** The weight of one. */
export const SCALE: number = ${scale};
export const BIAS: number = ${bias};
/** A text with a higher score is about danger. */
export const LIMIT: number = ${limit};
/** A text with a lower score, in all its parts, is ordinary, whatever phrases it has. */
export const ORDINARY: number = ${ordinary};
`;
  writeFileSync(new URL('../../src/crisis/learned/weights.ts', import.meta.url), text);
  console.log(
    `limit ${limit.toFixed(2)}, ordinary below ${ordinary.toFixed(2)}; of unseen parts of the taught sets ${(100 * missed).toFixed(1)} % are missed`,
  );
}
