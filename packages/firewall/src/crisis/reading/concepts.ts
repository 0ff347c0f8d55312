/**
 * Finds texts about a person in danger by what their words mean, near each other and in any order: "kill" and "myself",
 * "not", "want" and "live".
 *
 * Each language has a list of words for each concept, and the rules are the same in all of them. So a sentence that no
 * list of phrases foresaw is found if its words are known.
 */
const concepts = [
  ...['want', 'die', 'not', 'live', 'kill', 'murder', 'self', 'person', 'threat', 'weapon', 'drug', 'swallow'],
  ...['much', 'every', 'cut', 'body', 'height', 'jump', 'ambulance', 'call', 'chest', 'press', 'pain', 'harm'],
  ...['life', 'end', 'own', 'worth', 'down', 'stop', 'read', 'gone', 'fun'],
  ...['how', 'fear', 'tire', 'choke', 'abuse', 'hospital', 'now', 'gun', 'hoard', 'blood'],
] as const;
type Concept =
  | ('want' | 'die' | 'not' | 'live' | 'kill' | 'murder' | 'self' | 'person' | 'threat' | 'weapon' | 'drug')
  | ('swallow' | 'much' | 'every' | 'cut' | 'body' | 'height' | 'jump' | 'ambulance' | 'call' | 'chest' | 'press')
  | ('pain' | 'harm' | 'life' | 'end' | 'own' | 'worth' | 'down' | 'stop' | 'read' | 'gone' | 'fun')
  | ('how' | 'fear' | 'tire' | 'choke' | 'abuse' | 'hospital' | 'now' | 'gun' | 'hoard' | 'blood');

/** The words for each concept, with a space between. `a~` is any word that begins so, `a!` that word without a slip. */
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
  { first: 'murder', near: { person: 6, threat: 8 }, unless: 'fun' },
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
  { first: 'die', near: { how: 3 }, unless: 'fun' },
  { first: 'die', near: { fear: 10 }, unless: 'fun' },
  { first: 'life', near: { tire: 4 } },
  { first: 'live', near: { tire: 4 } },
  { first: 'choke', near: { person: 6 } },
  { first: 'abuse', near: { person: 3 } },
  { first: 'hospital', near: { now: 5 } },
  { first: 'hospital', near: { not: 4 } },
  { first: 'gun', near: { person: 6 } },
  { first: 'weapon', near: { threat: 8 } },
  { first: 'drug', near: { hoard: 5 } },
  { first: 'blood', near: { every: 4 } },
  { first: 'ambulance', near: { now: 6 } },
  { first: 'height', near: { down: 5 } },
];

/** Where each concept occurs in a text, as places that grow. */
type Places = ReadonlyMap<Concept, readonly number[]>;

/** `scale`: places for one word. `fits`: whether the first concept counts at this place. */
function holds(
  { first, near, unless }: Rule,
  places: Places,
  scale: number,
  fits?: (place: number) => boolean,
): boolean {
  const has = (concept: Concept, at: number, within: number): boolean =>
    places.get(concept)?.some((place) => Math.abs(place - at) <= within * scale) === true;
  const others = Object.entries(near) as readonly (readonly [Concept, number])[];
  return (
    places.get(first)?.some((at) => {
      if (!others.every(([concept, within]) => has(concept, at, within)) || fits?.(at) === false) return false;
      return unless === undefined || !has(unless, at, Math.max(...others.map(([, within]) => within)));
    }) === true
  );
}

const anyHolds = (places: Places, scale: number, at?: (place: number) => boolean): boolean =>
  rules.some((rule) => holds(rule, places, scale, at));

interface Entry {
  readonly text: string;
  readonly concept: Concept;
}

/** The concepts of words that were looked up. */
export type KnownWords = Map<string, ReadonlySet<Concept>>;

/** The words of a language that is written with spaces. */
export class SpacedLexicon {
  /** By first letter and length, because a slip changes neither by much. */
  readonly #slips = new Map<string, Entry[]>();
  readonly #prefixes = new Map<string, Entry[]>();
  readonly #exact = new Map<string, Concept[]>();

  readonly #language: string;

  /** `fold` reads the words as the view does that they are looked for in. */
  constructor(language: string, lexicon: Lexicon, fold: (text: string) => string) {
    this.#language = language;
    for (const concept of concepts as readonly Concept[])
      for (const word of lexicon[concept].split(' ')) {
        const prefix = word.endsWith('~');
        const text = scriptFolded(fold(word.replace(/[~!]$/, '')));
        const entry: Entry = { text, concept };
        if (prefix) push(this.#prefixes, text[0] ?? '', entry);
        else if (!word.endsWith('!')) push(this.#slips, `${text[0]}${text.length}`, entry);
        if (!prefix) push(this.#exact, text, concept);
      }
  }

  /** Whether a rule holds for these words. `known`: the words of other readings of the same text. */
  found(words: readonly string[], known: KnownWords): boolean {
    const places = new Map<Concept, number[]>();
    for (const [at, word] of words.entries()) {
      let concepts = known.get(word);
      if (concepts === undefined) known.set(word, (concepts = this.#conceptsOf(word)));
      for (const concept of concepts) push(places, concept, at);
    }
    return places.size > 1 && anyHolds(places, 1, (at) => !isOfAnother(words, at, this.#language));
  }

  #conceptsOf(word: string): ReadonlySet<Concept> {
    const found = new Set<Concept>();
    const forms = formsOf(word);
    for (const form of forms) for (const concept of this.#exact.get(form) ?? []) found.add(concept);
    if (found.size > 0) return found;
    for (const form of forms) {
      const first = form[0] ?? '';
      for (const { text, concept } of this.#prefixes.get(first) ?? []) if (form.startsWith(text)) found.add(concept);
      for (const length of [form.length - 1, form.length, form.length + 1])
        for (const { text, concept } of this.#slips.get(`${first}${length}`) ?? [])
          if (isSlipOf(form, text)) found.add(concept);
    }
    return found;
  }
}

/** Words that most sentences of these languages have, as the views fold them. They share an alphabet. */
const common: Readonly<Record<string, ReadonlySet<string>>> = Object.fromEntries(
  Object.entries({
    English: 'the and of to is a that in it for i my you he she they his her with on this was are be not',
    German: 'der die das und ist nicht ich du er sie es ein eine mit auf zu den dem mir mich wenn wir habe hat',
    Spanish: 'el la los las de que y no un una me se mi te en lo le con por esta su es he ha si del al',
    French: "le la les de des que et ne pas un une je tu il elle se ma mon te en est ce qu'il du au j'ai me sur",
    Portuguese: 'o os as de que e nao um uma me se eu meu minha te em na no ele ela com por esta sua voce do da ao',
  }).map(([language, words]) => [language, new Set(words.split(' '))]),
);

/** Whether the words around a place are those of another language only, so that one of ours is there by chance. */
function isOfAnother(words: readonly string[], at: number, language: string): boolean {
  const own = common[language];
  if (own === undefined) return false;
  const around = words.slice(Math.max(0, at - 8), at + 9);
  if (around.some((word) => own.has(word))) return false;
  return Object.values(common).some((of) => around.filter((word) => of.has(word)).length >= 3);
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

/** A shorter word that lacks a letter is too often a word of its own. */
const longEnough = 5;

/**
 * One letter missing or too many, or two that changed places. Another letter in the place of one is no slip here:
 * "policy" is not "police".
 */
function isSlipOf(word: string, text: string): boolean {
  if (text.length < longEnough || word[0] !== text[0]) return false;
  let same = 0;
  while (same < text.length && word[same] === text[same]) same += 1;
  if (word.length === text.length)
    return (
      word[same] === text[same + 1] && word[same + 1] === text[same] && word.slice(same + 2) === text.slice(same + 2)
    );
  return word.length > text.length
    ? word.slice(same + 1) === text.slice(same)
    : word.slice(same) === text.slice(same + 1);
}

function push<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const there = map.get(key);
  if (there === undefined) map.set(key, [value]);
  else there.push(value);
}

const ascii = /^[\0-\x7f]*$/;

/** Spellings that readers take for the same: Arabic ends of words, dots and nasal signs of Hindi. */
const scriptFolded = (text: string): string =>
  ascii.test(text)
    ? text
    : text.replace(/ة/g, 'ه').replace(/ى/g, 'ي').replace(/\u093C/g, '').replace(/\u0901/g, '\u0902'); // biome-ignore format: one line

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
