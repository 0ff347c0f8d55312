/** The words of each language by concept. */
import type { Lexicon } from '../reading/concepts.ts';
import { arabic } from './arabic.ts';
import { chinese } from './chinese.ts';
import { english } from './english.ts';
import { french } from './french.ts';
import { german } from './german.ts';
import { hindi } from './hindi.ts';
import { japanese } from './japanese.ts';
import { portuguese } from './portuguese.ts';
import { russian } from './russian.ts';
import { spanish } from './spanish.ts';

export const spacedLexicons: Readonly<Record<string, Lexicon>> = {
  Arabic: arabic,
  English: english,
  French: french,
  German: german,
  Hindi: hindi,
  Portuguese: portuguese,
  Russian: russian,
  Spanish: spanish,
};

export const unspacedLexicons: Readonly<Record<string, Lexicon>> = { Chinese: chinese, Japanese: japanese };
