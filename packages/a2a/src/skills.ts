/**
 * Skills as agents keep them: a folder with a `SKILL.md`, which begins with a record in YAML between two lines `---`.
 *
 * Promise: a skill that cannot be read is an error that names it. It never goes missing from the card in silence.
 */
import { CapError } from '@hob/vat';
import { parseDocument } from 'yaml';
import * as z from 'zod';
import type { CardSkill } from './card.ts';

/** A `SKILL.md`, and the name of its folder. */
export interface SkillFile {
  readonly folder: string;
  readonly text: string;
}

/** The skills that stay out. */
export interface SkillChoice {
  /** Names or ids of skills that are switched off. */
  readonly disabled: readonly string[];
  /** The platform of the host, as Node names it. A skill that lists others stays out. */
  readonly platform: string;
}

/** A list of texts, or texts with commas between. */
const words = z
  .union([z.string().transform((text) => text.split(',')), z.array(z.union([z.string(), z.number()]))])
  .transform((list) => [...new Set(list.map((one) => String(one).trim()).filter((one) => one !== ''))]);
const text = z.union([z.string(), z.number()]).transform((one) => String(one).trim());
const record = z.looseObject({
  name: text.optional(),
  title: text.optional(),
  description: text.optional(),
  tags: words.nullish(),
  category: text.nullish(),
  platforms: words.nullish(),
});

/** Names of platforms as skills write them, for those of Node. */
const PLATFORMS: Readonly<Record<string, string>> = { macos: 'darwin', mac: 'darwin', windows: 'win32' };

/** The skills of these files that belong on a card. Throws `invalid`, with the name of the folder. */
export function skillsOf(files: readonly SkillFile[], { disabled, platform }: SkillChoice): readonly CardSkill[] {
  return files.flatMap(({ folder, text }): readonly CardSkill[] => {
    const { name = folder, title = name, description = '', tags, category, platforms } = frontmatter(folder, text);
    const id = name.toLowerCase().replace(/\s+/g, '-');
    if ([name, id, folder].some((one) => disabled.includes(one))) return [];
    const on = platforms?.map((one) => PLATFORMS[one.toLowerCase()] ?? one.toLowerCase()) ?? [];
    if (on.length > 0 && !on.includes(platform)) return [];
    const all = [...(tags ?? []), ...(category ? [category] : [])];
    // A card wants a description and a tag of each skill.
    return [{ id, name: title, description: description || title, tags: all.length > 0 ? [...new Set(all)] : [id] }];
  });
}

const MOST = 65_536;

function frontmatter(folder: string, text: string): z.output<typeof record> {
  const block = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/.exec(text.slice(0, MOST))?.[1];
  if (block === undefined) throw broken(folder, 'does not begin with a record between two lines ---');
  const document = parseDocument(block, { strict: true, uniqueKeys: true });
  if (document.errors.length > 0) throw broken(folder, 'has a record that is no YAML');
  const read = record.safeParse(document.toJS({ maxAliasCount: 0 }));
  if (!read.success)
    throw broken(folder, `has a record whose ${read.error.issues[0]?.path.join('.') || 'shape'} is wrong`);
  return read.data;
}

const broken = (folder: string, what: string): CapError =>
  new CapError(
    'invalid',
    `the SKILL.md of ${JSON.stringify(folder)} ${what}: mend it, or list the skill under disabled`,
  );
