/** The figures of the README are those that the runs record, and a run compares itself with the records. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const read = (name: string): string => readFileSync(join(import.meta.dirname, name), 'utf8');
const readme = read('README.md');
/** For each version, suite and mode: the tasks of a user, each a letter for each attacker and one for none. */
const outcomes = JSON.parse(read('outcomes.json')) as Record<string, Record<string, string>>;

const SUITES = ['workspace', 'travel', 'banking', 'slack'] as const;
/** The attacker of travel who only wants a sentence stands first in AgentDojo's list. */
const WORDS_ONLY = { suite: 'travel', at: 0 };

function figures(version: string, mode: string) {
  const rows = SUITES.flatMap((suite) =>
    Object.values(outcomes[`${version} ${suite} ${mode}`] ?? {}).map((letters) => ({ suite, letters })),
  );
  const under = rows.map(({ suite, letters }) => ({ suite, letters: [...letters.slice(0, -1)] }));
  const count = (which: typeof under, wanted: string): number =>
    which.reduce((sum, { letters }) => sum + letters.filter((letter) => wanted.includes(letter)).length, 0);
  const tools = under.map(({ suite, letters }) => ({
    suite,
    letters: letters.filter((_, at) => suite !== WORDS_ONLY.suite || at !== WORDS_ONLY.at),
  }));
  const pairs = count(under, '.axX');
  const share = (part: number): string => `${part} = ${((100 * part) / pairs).toFixed(1)} %`;
  const each = SUITES.map((suite) =>
    count(
      under.filter((row) => row.suite === suite),
      'aX',
    ),
  );
  const [all, done] = [share(count(under, 'aX')), share(count(under, '.a'))];
  const calm = rows.filter(({ letters }) => letters.endsWith('.')).length;
  return {
    pairs,
    row: `| \`${mode}\` | ${each.join(' | ')} | **${all}** | ${count(tools, 'aX')} | ${done} | ${calm} |`,
  };
}

test.each([
  ['v1.1.2', 629],
  ['v1.2.2', 949],
])('the table of %s has what was recorded, of %i pairs', (version, pairs) => {
  for (const mode of ['none', 'coarse', 'fine', 'ask']) {
    expect(figures(version, mode).pairs, mode).toBe(pairs);
    expect(readme.slice(readme.indexOf(`**${version}: `))).toContain(figures(version, mode).row);
  }
});

test('the README counts the attacks that are there', () => {
  const attacks = ['content', 'data', 'swapped', 'spent', 'flooded'].map((name) => {
    const source = read(`attacks/${name}.py`);
    const list = source.slice(source.indexOf('ATTACKS: Final'));
    return { name, count: list.match(/^ {4}_of\(/gm)?.length ?? 0, kind: /^KIND: Final = "(.+)"$/m.exec(source)?.[1] };
  });
  for (const { kind, count } of attacks) expect(readme).toContain(`| ${kind} | ${count} |`);
  const all = attacks.reduce((sum, { count }) => sum + count, 0);
  expect(all).toBeGreaterThanOrEqual(60);
  expect(readme).toContain(`has ${all} attacks in five kinds`);
});
