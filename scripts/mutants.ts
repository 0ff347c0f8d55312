/**
 * `npm run mutants [-- NAME …]`: leaves each mechanism out and looks who notices.
 *
 * Promise: exits 0 only if the tests pass as they are, every mutant of the table is caught by a test that failed (not by
 * a file that did not even load), and the table and the sources name the same mutants.
 *
 * `--table FILE`, `--sources DIR` and `--config FILE` are for the test of this program.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import type { Mutant } from '../test/mutants.ts';

const ROOT = join(import.meta.dirname, '..');
const PARALLEL = 2;
/** A mutant that makes the tests hang is not caught: nobody would learn what is wrong. */
const LIMIT_MS = 300_000;

interface Verdict {
  name: string;
  verdict: 'caught' | 'MISSED' | 'BROKEN' | 'passes' | 'FAILS';
  by: string;
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    table: { type: 'string', default: 'test/mutants.ts' },
    sources: { type: 'string', default: 'packages' },
    config: { type: 'string', default: 'vitest.config.ts' },
  },
});
process.exitCode = await main();

async function main(): Promise<number> {
  const table: { MUTANTS: readonly Mutant[] } = await import(pathToFileURL(resolve(ROOT, values.table)).href);
  const unknown = positionals.filter((name) => !table.MUTANTS.some((mutant) => mutant.name === name));
  const chosen = table.MUTANTS.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
  const faults = [...unknown.map((name) => `${name}: not in the table`), ...(await tableFaults(table.MUTANTS))];
  for (const fault of faults) console.log(fault);
  if (faults.length > 0) return 1;
  if (chosen.length === 0) {
    console.log('no mutants');
    return 0;
  }

  const jobs = [() => judgeUnmutated(chosen), ...chosen.map((mutant) => () => judge(mutant))];
  const verdicts = await inParallel(jobs);
  const rows = verdicts.map(({ name, verdict, by }) => [verdict, name, by]);
  const width = (column: number): number => Math.max(...rows.map((row) => (row[column] ?? '').length));
  for (const [verdict = '', name = '', by = ''] of rows) {
    console.log(`${verdict.padEnd(width(0))}  ${name.padEnd(width(1))}  ${by}`);
  }
  const good = verdicts.filter(({ verdict }) => verdict === 'caught' || verdict === 'passes').length;
  console.log(`${good - 1} of ${chosen.length} mutants caught`);
  return good === verdicts.length ? 0 : 1;
}

/** A mutant whose name is in the table only, or in the sources only, leaves nothing out or is tested by nothing. */
async function tableFaults(mutants: readonly Mutant[]): Promise<string[]> {
  const { filesIn, isTest, isTypeScript } = await import('../test/sources.ts');
  const used = new Set<string>();
  for (const file of filesIn(values.sources).filter((file) => isTypeScript(file) && !isTest(file))) {
    const text = readFileSync(join(ROOT, file), 'utf8');
    for (const match of text.matchAll(/\bmutant\(\s*'([\w-]+)'\s*\)/g)) used.add(match[1] ?? '');
  }
  const rows = new Set(mutants.map(({ name }) => name));
  return [
    ...mutants.filter(({ name }) => !used.has(name)).map(({ name }) => `${name}: no source says mutant('${name}')`),
    ...[...used].filter((name) => !rows.has(name)).map((name) => `${name}: is in the sources, but not in the table`),
    ...mutants.flatMap(({ name, tests }) =>
      tests.filter((file) => !existsSync(join(ROOT, file))).map((file) => `${name}: ${file} does not exist`),
    ),
    ...mutants.filter(({ tests }) => tests.length === 0).map(({ name }) => `${name}: names no test file`),
  ];
}

async function judgeUnmutated(mutants: readonly Mutant[]): Promise<Verdict> {
  const { failed, first } = await runTests([...new Set(mutants.flatMap(({ tests }) => tests))], undefined);
  return { name: '(nothing left out)', verdict: failed === 0 ? 'passes' : 'FAILS', by: first ?? '' };
}

async function judge({ name, breaks, tests }: Mutant): Promise<Verdict> {
  let { failed, first } = await runTests(tests, name);
  // Stopped at its first failure, vitest now and then ends before it has said which that was.
  if (failed > 0 && first === undefined) ({ failed, first } = await runTests(tests, name, []));
  if (first !== undefined) return { name, verdict: 'caught', by: first };
  if (failed > 0) return { name, verdict: 'BROKEN', by: `the tests do not run (${breaks})` };
  return { name, verdict: 'MISSED', by: breaks };
}

/** `failed` also counts a run that died; `first` is the name of a test that failed. */
async function runTests(
  files: readonly string[],
  mutant: string | undefined,
  stopEarly: readonly string[] = mutant === undefined ? [] : ['--bail=1'],
): Promise<{ failed: number; first?: string | undefined }> {
  const folder = mkdtempSync(join(tmpdir(), 'hob-mutant-'));
  const report = join(folder, 'report.json');
  const env = { ...process.env, HOB_TEST_REPORT: report, HOB_MUTANT: mutant ?? '' };
  const vitest = join(ROOT, 'node_modules', 'vitest', 'vitest.mjs');
  const child = spawn(process.execPath, [vitest, 'run', '--config', values.config, ...stopEarly, ...files], {
    cwd: ROOT,
    env,
    stdio: 'ignore',
  });
  const limit = setTimeout(() => child.kill('SIGKILL'), LIMIT_MS);
  try {
    const code = await new Promise<number | null>((done) => child.once('close', done));
    if (!existsSync(report)) return { failed: 1 };
    const { failed, failures } = JSON.parse(readFileSync(report, 'utf8'));
    return { failed: code === 0 ? failed : Math.max(failed, 1), first: Object.keys(failures)[0] };
  } finally {
    clearTimeout(limit);
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The answers in the order of the jobs. */
async function inParallel<T>(jobs: readonly (() => Promise<T>)[]): Promise<T[]> {
  const answers: T[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < jobs.length) {
      const index = next;
      next += 1;
      const job = jobs[index];
      if (job !== undefined) answers[index] = await job();
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, work));
  return answers;
}
