/**
 * Reads the `SKILL.md` of each skill below a folder, three levels deep: `NAME`, `CATEGORY/NAME`, and one more.
 *
 * Links are not followed. What a file says beyond its first 64 KiB is not read.
 */
import { closeSync, openSync, readdirSync, readSync } from 'node:fs';
import { basename, join } from 'node:path';
import { CapError } from '@hob/vat';
import type { SkillFile } from '../skills.ts';

const DEEPEST = 3;
const MOST_SKILLS = 1_000;
const MOST_BYTES = 65_536;

/** Throws `invalid`, with the name of the folder, if it cannot be read or has more than 1,000 skills. */
export function readSkills(folder: string): readonly SkillFile[] {
  const found: SkillFile[] = [];
  const look = (path: string, depth: number): void => {
    const entries = readdirSync(path, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
    if (depth > 0 && entries.some((entry) => entry.isFile() && entry.name === 'SKILL.md')) {
      if (found.length === MOST_SKILLS) throw new CapError('invalid', `there are more than ${MOST_SKILLS} skills: name a folder with fewer`); // biome-ignore format: one line
      found.push({ folder: basename(path), text: beginning(join(path, 'SKILL.md')) });
      return;
    }
    if (depth === DEEPEST) return;
    for (const entry of entries)
      if (entry.isDirectory() && !entry.name.startsWith('.')) look(join(path, entry.name), depth + 1);
  };
  try {
    look(folder, 0);
  } catch (error) {
    if (error instanceof CapError) throw error;
    throw new CapError('invalid', `the skills in ${JSON.stringify(basename(folder))} cannot be read: look at the folder and its permissions`); // biome-ignore format: one line
  }
  return found;
}

function beginning(file: string): string {
  const descriptor = openSync(file, 'r');
  try {
    const bytes = Buffer.alloc(MOST_BYTES);
    return bytes.toString('utf8', 0, readSync(descriptor, bytes, 0, MOST_BYTES, 0));
  } finally {
    closeSync(descriptor);
  }
}
