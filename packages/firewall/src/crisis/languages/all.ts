/** The languages in which a person in danger is looked for. */
import type { Language } from '../reading/pattern.ts';
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

export const languages: readonly Language[] = [
  arabic,
  chinese,
  english,
  french,
  german,
  hindi,
  japanese,
  portuguese,
  russian,
  spanish,
];
