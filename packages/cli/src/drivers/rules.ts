/** Files of rules that a person names, and where their relative paths are meant from. */
import { readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { homeFolder } from './places.ts';

/** More than the importer reads, so that it can say so itself. */
const MOST_BYTES = 1024 * 1024;

/** The text of a file, or why it cannot be read. */
export function readRules(
  file: string,
): { readonly text: string } | { readonly wrong: string; readonly write: string } {
  try {
    const stat = statSync(file);
    if (!stat.isFile()) return { wrong: 'this is no file', write: 'name a file of rules' };
    if (stat.size > MOST_BYTES)
      return { wrong: 'the file is larger than 1 MiB', write: 'import several smaller files' };
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file)) };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return { wrong: 'there is no such file', write: 'look at its name' };
    if (code === 'EACCES' || code === 'EPERM')
      return { wrong: 'the file may not be read', write: 'look at its permissions' };
    if (error instanceof TypeError) return { wrong: 'this is no text in UTF-8', write: 'save it as UTF-8' };
    return { wrong: `the file cannot be read (${code ?? 'unknown'})`, write: 'look at it' };
  }
}

/** The absolute path of a folder; undefined if there is none. */
export function folderAt(path: string): string | undefined {
  try {
    return statSync(path).isDirectory() ? resolve(path) : undefined;
  } catch {
    return undefined;
  }
}

/** The working directory and the home directory of the person. */
export const here = (): { readonly cwd: string; readonly home?: string } => ({ cwd: process.cwd(), ...homeFolder() });
