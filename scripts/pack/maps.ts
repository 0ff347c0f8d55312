/**
 * Source maps of compiled modules, as a user gets them.
 *
 * Promise: a map holds the text of its source, and names it as it lies in the package (`src/…`). Nothing in it tells
 * where it was made.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';

interface SourceMap {
  readonly sources: readonly string[];
  readonly sourcesContent?: readonly (string | null)[];
  readonly sourceRoot?: string;
}

/** Changes the maps in `dist/` of a package's folder. Throws by name if the text of a source is missing. */
export function nameSources(folder: string): void {
  const dist = join(folder, 'dist');
  for (const name of readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter((each) =>
    each.endsWith('.js.map'),
  )) {
    const place = join(dist, name);
    const { sourceRoot: _, ...map } = JSON.parse(readFileSync(place, 'utf8')) as SourceMap;
    if (map.sources.length !== 1 || typeof map.sourcesContent?.[0] !== 'string')
      throw new Error(`dist/${name}: the map needs one source, with its text`);
    const source = join(folder, 'src', name.replace(/\.js\.map$/, '.ts'));
    const sources = [relative(dirname(place), source).split(sep).join('/')];
    writeFileSync(place, JSON.stringify({ ...map, sources }));
  }
}
