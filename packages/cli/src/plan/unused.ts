/** Parts of a manifest that this version reads and does not use. */
import { type Layer, type Mistake, parse } from '@hob/manifest';

/**
 * A warning for each `judge`. A judge is a model, and the host has no cap that reaches one. It could only propose and
 * refuse, so without it nothing runs that would not run with it: every request waits for a person.
 */
export const unusedParts = (layers: readonly Layer[]): readonly Mistake[] =>
  layers.flatMap((source): readonly Mistake[] => {
    // Reading a manifest again takes time, and few have one.
    const parsed = source.text.includes('judge') ? parse(source) : undefined;
    if (parsed?.manifest === undefined || (parsed.manifest.judge?.may ?? []).length === 0) return [];
    const place = parsed.document.where(['judge'], true);
    const wrong = 'this version runs no judge: every request waits for a person';
    return [{ severity: 'warning', file: source.file, ...place, at: 'judge', wrong, write: 'leave it out' }];
  });
