/** The table of operations in the README is complete: for `os.Root`, `fs.promises`, the MCP server, and our own. */
import { promises, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { allMethods } from './base/methods.ts';

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
const rows = (from: string, to: string): readonly (readonly string[])[] =>
  readme
    .slice(readme.indexOf(from), readme.indexOf(to))
    .split('\n')
    .filter((line) => line.startsWith('| ') && !/^\| (?:they have|---|\|)/.test(line))
    .map((line) => line.split(/(?<!\\)\|/).map((cell) => cell.trim()));
/** The names in code of a cell, each without what stands before a dot and what follows it. */
const namesIn = (cell: string): readonly string[] =>
  [...cell.matchAll(/`([^`]+)`/g)].map(([, code = '']) => /^(?:\w+\.)?(\w+)/.exec(code)?.[1] ?? code);

const beside = rows('### Beside others', '\n## Traps');
const theirs = beside.flatMap(([, cell = '']) => namesIn(cell));

test('every operation of os.Root, of fs.promises and of the MCP filesystem server stands in the table', () => {
  // Go 1.25.
  const goRoot =
    `Chmod Chown Chtimes Close Create FS Lchown Link Lstat Mkdir MkdirAll Name Open OpenFile OpenRoot ReadFile
    Readlink Remove RemoveAll Rename Stat Symlink WriteFile`.split(/\s+/);
  // @modelcontextprotocol/server-filesystem 2026.8.31.
  const mcp = `create_directory directory_tree edit_file get_file_info list_allowed_directories list_directory move_file
    read_file read_media_file read_multiple_files read_text_file search_files write_file`.split(/\s+/);
  const node = Object.entries(promises).flatMap(([name, value]) => (typeof value === 'function' ? [name] : []));
  expect(node.length).toBeGreaterThan(25);
  expect([...goRoot, ...mcp, ...node].filter((name) => !theirs.includes(name))).toEqual([]);
});

test('what the table says is here is a method of a cap, and each row without one says why', () => {
  expect(beside.length).toBeGreaterThan(25);
  for (const [, they = '', here = '', why = ''] of beside) {
    if (here === 'not here') expect([they, why]).toEqual([they, expect.stringMatching(/\w/)]);
    else
      for (const name of namesIn(here))
        expect([they, name, allMethods.has(name) || OPTIONS.has(name)]).toEqual([they, name, true]);
  }
});

/** Options of methods that a row names for themselves. */
const OPTIONS: ReadonlySet<string> = new Set(['create', 'durable', 'tail']);

test('each method of a cap stands in the table of operations', () => {
  const named = rows('## Operations', '**Effects**').flatMap(([, cell = '']) => namesIn(cell));
  expect([...allMethods].filter((name) => !named.includes(name) && name !== 'close')).toEqual([]);
});
