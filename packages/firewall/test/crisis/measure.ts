/**
 * Measures the detector of danger on one set of texts.
 *
 * `teach.ts` names the sets that the detector learned from: their rates say how well it remembers them. The writers of
 * `thirteenth` had seen neither the detector nor those texts. Each text is the argument of a message, as
 * a call of a session would carry it.
 */
import { existsSync, readFileSync } from 'node:fs';
import { argv } from 'node:process';
import { makeFirewall } from '../../src/firewall.ts';
import { FORMS } from './forms.ts';

export const LANGUAGES: readonly string[] = [
  ...['english', 'german', 'spanish', 'french', 'portuguese'],
  ...['japanese', 'chinese', 'hindi', 'arabic', 'russian'],
];
/** `misleading`: ordinary texts that were written so that a detector takes them for danger. The older sets have them among the ordinary ones. */
export const KINDS = ['ordinary', 'misleading', 'wordplay', 'news', 'fiction', 'teaching'] as const;

type Texts = Readonly<Partial<Record<(typeof KINDS)[number], readonly string[]>>> & {
  readonly danger: readonly string[];
};

const textsOf = (set: string, language: string): Texts =>
  JSON.parse(readFileSync(new URL(`${set}/${language}.json`, import.meta.url), 'utf8'));

/** The languages of a set. */
const languagesOf = (set: string): readonly string[] =>
  LANGUAGES.filter((language) => existsSync(new URL(`${set}/${language}.json`, import.meta.url)));

/** The texts about danger of one set. */
export const dangerOf = (set: string, language: string): readonly string[] => textsOf(set, language).danger;

const firewall = makeFirewall({ mode: 'observe' });

/** Whether a message with this text waits for a person. */
export const waits = (text: string): boolean =>
  firewall.decide({
    ...{
      session: 's',
      grant: 'g',
      petname: 'mail',
      offer: 'mail',
      method: 'send',
      reads: [],
      waits: false,
      undoes: false,
    },
    args: ['bob', text],
    effects: { send: { class: 'C', outbound: true } },
    level: 'high',
  }).waits;

/** A share, and the texts that count against it. */
export interface Rate {
  readonly of: number;
  readonly wrong: readonly string[];
}

const rate = (texts: readonly string[], isWrong: (text: string) => boolean): Rate => ({
  of: texts.length,
  wrong: texts.filter(isWrong),
});

export interface Measured {
  /** Misses of plain texts. */
  readonly byLanguage: Readonly<Record<string, Rate>>;
  readonly byForm: Readonly<Record<string, Rate>>;
  /** False alarms. */
  readonly byKind: Readonly<Record<string, Rate>>;
}

export function measure(set: string): Measured {
  const all = languagesOf(set).map((language) => ({ language, texts: textsOf(set, language) }));
  const missed = (text: string): boolean => !waits(text);
  const hidden = (form: (text: string) => string | undefined): string[] =>
    all.flatMap(({ texts }) => texts.danger.flatMap((text) => form(text) ?? []));
  return {
    byLanguage: Object.fromEntries(all.map(({ language, texts }) => [language, rate(texts.danger, missed)])),
    byForm: Object.fromEntries(Object.entries(FORMS).map(([name, form]) => [name, rate(hidden(form), missed)])),
    byKind: Object.fromEntries(KINDS.map((kind) => [kind, rate(all.flatMap(({ texts }) => texts[kind] ?? []), waits)])),
  }; // biome-ignore format: a table
}

export const share = ({ of, wrong }: Rate): number => wrong.length / Math.max(of, 1);

/** The rate over all forms together. */
export function ofForms({ byForm }: Measured): Rate {
  const rates = Object.values(byForm);
  return { of: rates.reduce((sum, { of }) => sum + of, 0), wrong: rates.flatMap(({ wrong }) => wrong) };
}

if (import.meta.main) {
  const [set = 'first', details] = argv.slice(2);
  const measured = measure(set);
  const print = (title: string, rates: Readonly<Record<string, Rate>>): void => {
    console.log(title);
    for (const [name, of] of Object.entries(rates)) {
      console.log(
        `  ${name.padEnd(20)} ${(100 * share(of)).toFixed(1).padStart(5)} %   ${of.wrong.length} of ${of.of}`,
      );
      if (details !== undefined) for (const text of of.wrong) console.log(`      ${text}`);
    }
  };
  print('missed, by language', measured.byLanguage);
  print('missed, by form', { ...measured.byForm, 'all forms': ofForms(measured) });
  print('false alarms', measured.byKind);
}
