/** Parts of a manifest that are read and have no effect. */
import { type Layer, type Mistake, parse } from '@hob/manifest';

/**
 * A warning for each `judge` that names no model to ask. Without one nothing runs that would not run with it: every
 * request waits for a person.
 */
export const unusedParts = (layers: readonly Layer[]): readonly Mistake[] =>
  layers.flatMap((source): readonly Mistake[] => {
    // Reading a manifest again takes time, and few have one.
    const parsed = source.text.includes('judge') ? parse(source) : undefined;
    if (parsed?.manifest === undefined) return [];
    const { may = [], url } = parsed.manifest.judge ?? {};
    if (may.length === 0 || url !== undefined) return [];
    const place = parsed.document.where(['judge'], true);
    const wrong = 'this judge names no model to ask: every request waits for a person';
    return [{ severity: 'warning', file: source.file, ...place, at: 'judge', wrong, write: 'add api, url and model, or leave it out' }]; // biome-ignore format: one line
  });
