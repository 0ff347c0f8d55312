/** Every npm command, asked of the program that knows them all, so that a new one cannot be forgotten. */
import { execFile, execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT, read } from './sources.ts';

const entry = join(ROOT, 'scripts', 'hob.mjs');
/** These hand their options on to node, to vitest and to biome. */
const handsOn = ['node', 'check', 'test', 'test:deep', 'lint', 'format'];

interface Said {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

const run = (...args: readonly string[]): Promise<Said> =>
  new Promise((resolve) => {
    execFile(process.execPath, [entry, ...args], { cwd: ROOT, timeout: 100_000 }, (error, out, err) =>
      resolve({ code: error === null ? 0 : Number(error.code ?? -1), out, err }),
    );
  });

const verbs = execFileSync(process.execPath, [entry, '--help'], { encoding: 'utf8' })
  .split('\n')
  .filter((line) => line.startsWith('  '))
  .map((line) => line.trim());
const programs = verbs.filter((verb) => !handsOn.includes(verb));
const stack = /^ +at .+:\d+/m;

test('each script of package.json is a command, and each command is one', () => {
  const { scripts, version } = JSON.parse(read('package.json').text) as {
    readonly scripts: Readonly<Record<string, string>>;
    readonly version: string;
  };
  const called = Object.values(scripts).map((line) => line.replace('node scripts/hob.mjs ', ''));
  expect(called.filter((verb) => !verbs.includes(verb))).toEqual([]);
  expect(programs.length).toBeGreaterThan(12);
  expect(execFileSync(process.execPath, [entry, '--version'], { encoding: 'utf8' })).toBe(`hob ${version}\n`);
});

test.each(programs)('%s: --help, --version, and an option that it does not take', async (verb) => {
  const [help, version, wrong] = await Promise.all([
    run(verb, '--help'),
    run(verb, '--version'),
    run(verb, '--nonsense'),
  ]);
  expect(help).toEqual({
    code: 0,
    out: expect.stringMatching(/^Usage: (?:npm (?:start|run [\w:]+)|hob(?:-(?:doctor|agent))? )/),
    err: '',
  });
  expect(version).toEqual({ code: 0, out: expect.stringMatching(/^hob \d+\.\d+\.\d+\n$/), err: '' });
  expect(wrong.code).toBeGreaterThan(0);
  expect(wrong.out).toBe('');
  expect(wrong.err).toMatch(/^(?:hob|error): unknown option '--nonsense'/);
  expect(wrong.err).not.toMatch(stack);
});

test('an unknown command says so, with the nearest name; no command is the list of them', async () => {
  expect(await run('doctr')).toEqual({ code: 2, out: '', err: expect.stringMatching(/^hob: unknown command 'doctr' \(Did you mean doctor\?\)[^\n]*\n$/) }); // biome-ignore format: one line
  expect(await run('nothing-like-it')).toEqual({ code: 2, out: '', err: expect.stringMatching(/^hob: unknown command 'nothing-like-it';[^\n]*\n$/) }); // biome-ignore format: one line
  expect(await run()).toEqual({ code: 2, out: '', err: expect.stringMatching(/^Usage: /) });
  expect((await run('test', '--help')).out).toMatch(/^Usage: npm run check \| npm test/);
});
