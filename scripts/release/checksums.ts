/** Writes `SHA256SUMS` beside the files of a release, in the form that `sha256sum --check` reads. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const SUMS = 'SHA256SUMS';

export function writeChecksums(folder: string): string {
  const names = readdirSync(folder)
    .filter((name) => name !== SUMS)
    .sort();
  const line = (name: string): string =>
    `${createHash('sha256')
      .update(readFileSync(join(folder, name)))
      .digest('hex')}  ${name}\n`;
  const file = join(folder, SUMS);
  writeFileSync(file, names.map(line).join(''));
  return file;
}
