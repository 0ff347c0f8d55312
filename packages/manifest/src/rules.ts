/**
 * Rules of other agents as a manifest. A face of its own: it loads parsers of TOML and JSON, which no check of a
 * manifest needs.
 */
export {
  type Imported,
  type ImportOptions,
  importRules,
  type Translated,
  type Untranslated,
} from './import/import.ts';
export type { At, Product } from './import/rule.ts';
export { manifestText } from './import/text.ts';
