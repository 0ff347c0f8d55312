/**
 * Finds texts about a person in danger by what their words mean, near each other and in any order: "kill" and "myself",
 * "not", "want" and "live".
 *
 * Each language has a list of words for each concept, and the rules are the same in all of them. So a sentence that no
 * list of phrases foresaw is found if its words are known.
 */
import { isWord } from './pattern.ts';

const concepts = [
  ...['want', 'die', 'not', 'live', 'kill', 'murder', 'self', 'person', 'threat', 'weapon', 'drug', 'swallow'],
  ...['much', 'every', 'cut', 'body', 'height', 'jump', 'ambulance', 'call', 'chest', 'press', 'pain', 'harm'],
  ...['life', 'end', 'own', 'worth', 'down', 'stop', 'read', 'gone', 'fun'],
] as const;
export type Concept =
  | ('want' | 'die' | 'not' | 'live' | 'kill' | 'murder' | 'self' | 'person' | 'threat' | 'weapon' | 'drug')
  | ('swallow' | 'much' | 'every' | 'cut' | 'body' | 'height' | 'jump' | 'ambulance' | 'call' | 'chest' | 'press')
  | ('pain' | 'harm' | 'life' | 'end' | 'own' | 'worth' | 'down' | 'stop' | 'read' | 'gone' | 'fun');

/** The words for each concept, with a space between. `a~` is any word that begins so. */
export type Lexicon = Readonly<Record<Concept, string>>;

/** A word for the first concept, and within so many words of it one for each of the others. */
interface Rule {
  readonly first: Concept;
  readonly near: Readonly<Partial<Record<Concept, number>>>;
  /** Not if a word for this concept is as near: a figure of speech. */
  readonly unless?: Concept;
}

const rules: readonly Rule[] = [
  { first: 'self', near: { kill: 3 }, unless: 'fun' },
  { first: 'die', near: { want: 4 }, unless: 'fun' },
  { first: 'live', near: { not: 5, want: 5 } },
  { first: 'murder', near: { person: 4, threat: 8 }, unless: 'fun' },
  { first: 'weapon', near: { murder: 8 } },
  { first: 'weapon', near: { down: 4 } },
  { first: 'drug', near: { swallow: 7, much: 5 } },
  { first: 'drug', near: { swallow: 7, every: 2 } },
  { first: 'drug', near: { stop: 5, swallow: 5 } },
  { first: 'body', near: { cut: 5 } },
  { first: 'jump', near: { height: 8 } },
  { first: 'ambulance', near: { call: 5 } },
  { first: 'ambulance', near: { not: 5 } },
  { first: 'chest', near: { press: 7 } },
  { first: 'chest', near: { pain: 4 } },
  { first: 'self', near: { harm: 4 } },
  { first: 'life', near: { end: 4, own: 4 } },
  { first: 'life', near: { worth: 5, own: 4 } },
  { first: 'read', near: { gone: 10 } },
];

/** Where each concept occurs in a text, as places that grow. */
type Places = ReadonlyMap<Concept, readonly number[]>;

/** `scale`: places for one word. */
function holds({ first, near, unless }: Rule, places: Places, scale: number): boolean {
  const has = (concept: Concept, at: number, within: number): boolean =>
    places.get(concept)?.some((place) => Math.abs(place - at) <= within * scale) === true;
  const others = Object.entries(near) as readonly (readonly [Concept, number])[];
  return (
    places.get(first)?.some((at) => {
      if (!others.every(([concept, within]) => has(concept, at, within))) return false;
      return unless === undefined || !has(unless, at, Math.max(...others.map(([, within]) => within)));
    }) === true
  );
}

const anyHolds = (places: Places, scale: number): boolean => rules.some((rule) => holds(rule, places, scale));

interface Entry {
  readonly text: string;
  readonly prefix: boolean;
  readonly concept: Concept;
}

/** The words of a language that is written with spaces. */
export class SpacedLexicon {
  readonly #byLetter = new Map<string, Entry[]>();
  readonly #exact = new Map<string, Concept[]>();

  /** `fold` reads the words as the view does that they are looked for in. */
  constructor(lexicon: Lexicon, fold: (text: string) => string) {
    for (const concept of concepts as readonly Concept[])
      for (const word of lexicon[concept].split(' ')) {
        const prefix = word.endsWith('~');
        const text = scriptFolded(fold(prefix ? word.slice(0, -1) : word));
        push(this.#byLetter, text[0] ?? '', { text, prefix, concept });
        if (!prefix) push(this.#exact, text, concept);
      }
  }

  /** Whether a rule holds for these words. */
  found(words: readonly string[]): boolean {
    const places = new Map<Concept, number[]>();
    for (const [at, word] of words.entries()) for (const concept of this.#conceptsOf(word)) push(places, concept, at);
    return places.size > 1 && anyHolds(places, 1);
  }

  #conceptsOf(word: string): ReadonlySet<Concept> {
    const found = new Set<Concept>();
    for (const form of formsOf(word)) for (const concept of this.#exact.get(form) ?? []) found.add(concept);
    if (found.size > 0) return found;
    for (const form of formsOf(word))
      for (const { text, prefix, concept } of this.#byLetter.get(form[0] ?? '') ?? [])
        if (
          (prefix || Math.abs(form.length - text.length) <= 1) &&
          (isWord(form, { text, prefix }) || (!prefix && lacksOrDoubles(form, text)))
        )
          found.add(concept);
    return found;
  }
}

/** Words of a language that is written without spaces, as expressions. */
export class UnspacedLexicon {
  readonly #patterns: readonly (readonly [Concept, RegExp])[];

  constructor(lexicon: Lexicon) {
    this.#patterns = (concepts as readonly Concept[]).map((concept) => [
      concept,
      new RegExp(lexicon[concept].normalize('NFKC').split(' ').join('|'), 'gu'),
    ]);
  }

  found(text: string): boolean {
    const places = new Map<Concept, number[]>();
    for (const [concept, pattern] of this.#patterns)
      for (const { index } of text.matchAll(pattern)) push(places, concept, index);
    return places.size > 1 && anyHolds(places, charactersPerWord);
  }
}

const charactersPerWord = 2;

/** A shorter word with another letter in a place is too often a word of its own. */
const longEnough = 5;

/** A short word that lacks one letter, or has one too many. The rules want another word beside it. */
function lacksOrDoubles(word: string, text: string): boolean {
  const [short, long] = word.length < text.length ? [word, text] : [text, word];
  if (text.length < longEnough || long.length !== short.length + 1 || long[0] !== short[0]) return false;
  let same = 0;
  while (short[same] === long[same] && same < short.length) same += 1;
  return short.slice(same) === long.slice(same + 1);
}

function push<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const there = map.get(key);
  if (there === undefined) map.set(key, [value]);
  else there.push(value);
}

/** Spellings that readers take for the same: Arabic ends of words, dots and nasal signs of Hindi. */
const scriptFolded = (text: string): string =>
  text.replace(/ة/g, 'ه').replace(/ى/g, 'ي').replace(/\u093C/g, '').replace(/\u0901/g, '\u0902'); // biome-ignore format: one line

/** A word without the particles that some languages write together with it. */
function formsOf(word: string): readonly string[] {
  const plain = scriptFolded(word);
  if (/^[\u0621-\u064A]/.test(plain)) return arabicForms(plain);
  const elided = /^(?:[a-z]|qu)'(.+)$/.exec(plain)?.[1];
  return elided === undefined ? [plain] : [plain, elided];
}

const arabicForms = (word: string): readonly string[] => {
  const forms = new Set([word]);
  for (const before of [/^[وف]/, /^(?:بال|كال|لل|ال|[بلكسه])/, /^ال/])
    for (const form of [...forms]) {
      const rest = form.replace(before, '');
      if (rest.length >= 2) forms.add(rest);
    }
  for (const form of [...forms]) {
    const rest = form.replace(/(?:ها|هم|كم|نا|ني|[يهكا])$/, '');
    if (rest.length >= 3) forms.add(rest);
  }
  return [...forms];
};
