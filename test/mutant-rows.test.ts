/** The rows of the mutants fit the sources as they are: one that does not would stop `npm run mutants` for all. */
import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { MUTANTS } from './mutants/index.ts';
import { editsOf, replaceOnce } from './mutants/mutant.ts';
import { ROOT } from './sources.ts';

test('every mutant of the table fits the sources, and has a name of its own', () => {
  for (const edit of MUTANTS.flatMap(editsOf)) replaceOnce(readFileSync(join(ROOT, edit.file), 'utf8'), edit);
  expect(new Set(MUTANTS.map(({ name }) => name)).size).toBe(MUTANTS.length);
});

// A text that does not parse leaves nothing out: its tests fail to load, and that shows nothing about the mechanism.
test('every mutant of a TypeScript file parses', () => {
  for (const row of MUTANTS) {
    const texts = new Map<string, string>();
    for (const edit of editsOf(row).filter(({ file }) => file.endsWith('.ts')))
      texts.set(edit.file, replaceOnce(texts.get(edit.file) ?? readFileSync(join(ROOT, edit.file), 'utf8'), edit));
    for (const [file, text] of texts) expect(() => stripTypeScriptTypes(text), `${row.name}: ${file}`).not.toThrow();
  }
});
