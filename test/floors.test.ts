/**
 * Inside a package the folders are floors: a file imports from its own floor and from lower ones, types included.
 *
 * A file that lies at the top of `src` belongs to the floor `.`.
 */
import { dirname, join, relative } from 'node:path/posix';
import { expect, test } from 'vitest';
import { filesIn, importsOf, isPythonProduct, isTest, isTypeScript, packages, read } from './sources.ts';

/** The floors of each package, lowest first. A folder that is not named belongs to the floor of the folder above it. */
const FLOORS: Readonly<Record<string, readonly string[]>> = {
  vat: [
    ...['core', 'time', 'drivers', 'store', 'ledger', 'durable', 'turn', 'actor', 'eventual', 'vats'],
    ...['captp/session', 'captp/dialects', 'captp/transport', 'captp', 'actors', 'testing', '.'],
  ],
  revocable: ['terms', 'forwarder', '.'],
  'caps-fs': ['base', 'drivers', 'root', 'files', 'search', '.'],
  'caps-net': ['base', 'address', 'secret', 'drivers', 'http', 'message', 'credential', 'schedule', 'net', '.'],
  manifest: ['text', 'words', 'file', 'plan', 'import', 'starter', '.'],
  firewall: [
    'call',
    'assess/factors',
    'assess',
    'crisis/reading',
    'crisis/languages',
    'crisis',
    'guardrails',
    'hooks',
    'judge',
    'review',
    'replay',
    '.',
  ],
  mcp: ['text', 'verbs', 'face', 'drivers', 'servers', '.', 'http'],
  cli: ['line', 'secrets', 'plan', 'drivers', 'daemon', 'cluster', 'sessions', 'recipes', 'acp', 'verbs', '.'],
  host: [
    'text',
    'drivers',
    'webauthn',
    'state',
    'sharing',
    'passkeys',
    'powerbox',
    'hooks',
    'sessions',
    'granters',
    'door',
    '.',
    'programs',
  ],
};
/** A folder with more product files than this cannot be scanned by a reader. */
const MOST_FILES = 20;

const products = (name: string): string[] =>
  filesIn(`packages/${name}/src`).filter((file) => isTypeScript(file) && !isTest(file));

function floorOf(name: string, file: string): number {
  const floors = FLOORS[name] ?? [];
  for (let folder = dirname(relative(`packages/${name}/src`, file)); ; folder = dirname(folder)) {
    const floor = floors.indexOf(folder);
    if (floor >= 0 || folder === '.') return floor;
  }
}

/** The imports that go up. */
function upwards(name: string, files: readonly { readonly file: string; readonly text: string }[]): string[] {
  return files.flatMap(({ file, text }) =>
    importsOf(text)
      .filter(({ specifier }) => specifier.startsWith('.'))
      .map(({ specifier }) => join(dirname(file), specifier))
      .filter((target) => floorOf(name, target) > floorOf(name, file))
      .map((target) => `${file} imports ${target}, which lies above it`),
  );
}

for (const name of Object.keys(FLOORS))
  test(`${name}: imports go to the same floor or down, types included`, () => {
    expect(upwards(name, products(name).map(read))).toEqual([]);
  });

test('an import that goes up is found, also one of a type', () => {
  const file = 'packages/vat/src/core/a.ts';
  const text = "import type { Turn } from '../turn/turn.ts';";
  expect(upwards('vat', [{ file, text }])).toEqual([
    'packages/vat/src/core/a.ts imports packages/vat/src/turn/turn.ts, which lies above it',
  ]);
  expect(upwards('vat', [{ file: 'packages/vat/src/turn/a.ts', text: "import '../core/errors.ts';" }])).toEqual([]);
});

test(`no folder has more than ${MOST_FILES} product files`, () => {
  const counts = new Map<string, number>();
  const inPython = filesIn('packages').filter(isPythonProduct);
  expect(inPython.length).toBeGreaterThan(50);
  for (const file of [...packages.flatMap(products), ...inPython])
    counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1);
  expect([...counts].filter(([, count]) => count > MOST_FILES)).toEqual([]);
});
