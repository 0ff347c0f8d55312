/** Ten programs as models write them, each run over a real directory and real programs; every file of the folder is one of them. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { openFsCap } from '@hob/caps-fs';
import { makeShellCap, spawnConfined } from '@hob/caps-shell';
import { openGuests } from '@hob/guest';
import { driverOf, type Far } from '@hob/vat';
import { expect, onTestFinished } from 'vitest';
import { requires } from '../test/needs.ts';

const test = requires('linux', 'cc', 'userns');
const programs = join(import.meta.dirname, 'guest');

const FILES: Readonly<Record<string, string>> = {
  'README.md': 'This is the project: what is in it is small.\n',
  'src/app.py': '# the app\nfrom users import fetch_user\n\n\ndef main():\n    print(fetch_user(1))  # TODO: a name\n',
  'src/users.py':
    'def fetch_user(number):\n\treturn prefetch_users()[number]\n\n\ndef prefetch_users():\n    return ["Ada"]\n',
  'data/names.txt': 'Grace\nAda\n',
  'data/names-copy.txt': 'Grace\nAda\n',
  'data/other.txt': 'Barbara\n',
  'photos/One.JPG': '1',
  'photos/two.jpeg': '2',
  'photos/two.jpg': 'the other two',
  'config/a.json': '{"name": "a", "version": 1, "server": "one.example"}',
  'config/b.json': '{"name": "b", "version": 2, "servers": []}',
};

interface Case {
  readonly value: unknown;
  readonly printed?: string;
  /** The files that it left. */
  readonly files?: Readonly<Record<string, string | RegExp>>;
}

const CASES: Readonly<Record<string, Case>> = {
  'count-lines.js': { value: { files: 2, lines: 12, largest: 'src/app.py' }, printed: '     6 src/app.py\n' },
  'search-and-edit.js': {
    value: { paths: ['src/app.py', 'src/users.py'], left: 2 },
    printed: 'src/app.py: 2\nsrc/users.py: 1\n',
    files: {
      'src/app.py': /import load_user[\s\S]*load_user\(1\)/,
      'src/users.py': /def load_user[\s\S]*def prefetch_users/,
    },
  },
  'parallel-runs.js': { value: { failed: ['test -f missing.txt'], first: 'Ada', defs: 1 } },
  'error-path.js': {
    value: {
      missing: 'NOT_FOUND',
      outside: 'PATH_ESCAPES',
      absolute: 'PATH_ABSOLUTE',
      taken: 'EXISTS',
      unclear: 'AMBIGUOUS',
    },
    files: { 'README.md': FILES['README.md'] as string },
  },
  'todo-report.js': {
    value: { todos: 1, same: true },
    files: {
      'report.html': /<!-- made by a program -->[\s\S]*await import\('\.\/chart\.js'\); eval\('chart\(\)'\); \/\/ -->/,
    },
  },
  'rename-many.js': {
    value: { renamed: ['photos/one.jpg'], kept: ['photos/two.jpeg'], all: ['one.jpg', 'two.jpeg', 'two.jpg'] },
    files: { 'photos/two.jpg': 'the other two' },
  },
  'run-and-fix.js': {
    value: { clean: true, round: 2 },
    printed: 'round 1: src/users.py\n',
    files: { 'src/users.py': /^[^\t]*$/ },
  },
  'migrate-config.ts': {
    value: { 'config/a.json': { name: 'a', version: 2, servers: ['one.example'] } },
    files: { 'config/b.json': FILES['config/b.json'] as string },
  },
  'watch-a-job.js': { value: { steps: 3, ended: expect.any(String), status: expect.any(Number) } },
  'find-duplicates.js': { value: [['data/names-copy.txt', 'data/names.txt']] },
};

test('each does what it was written for, confined, with a directory and a shell and nothing else', async () => {
  expect(Object.keys(CASES).sort()).toEqual(readdirSync(programs).sort());
  const guests = await openGuests({ spawnConfined, pool: 2 });
  onTestFinished(() => guests.close());
  for (const [name, { value, printed, files = {} }] of Object.entries(CASES)) {
    const root = mkdtempSync(join(tmpdir(), 'programs-'));
    onTestFinished(() => rmSync(root, { recursive: true }));
    for (const [path, text] of Object.entries(FILES)) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    }
    const workspace = await openFsCap(root);
    const shell = await makeShellCap({ mounts: { '/work': workspace } });
    try {
      const caps = { workspace: driverOf(workspace), shell: driverOf(shell) } as Readonly<Record<string, Far<object>>>;
      const done = await guests.evaluate(readFileSync(join(programs, name), 'utf8'), { caps });
      expect.soft(done.value, name).toEqual(value);
      if (printed !== undefined) expect.soft(done.console, name).toContain(printed);
      for (const [path, text] of Object.entries(files))
        expect.soft(readFileSync(join(root, path), 'utf8'), path).toMatch(text);
    } finally {
      await shell.close();
      await workspace.close();
    }
  }
});
