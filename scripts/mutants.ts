/**
 * `npm run mutants [-- NAME …]`: leaves each mechanism out and looks who notices.
 *
 * It exits 0 only if the tests pass as they are, every mutant of `test/mutants/` is caught by a test that failed (not by
 * a file that did not even load), and each replacement still fits the sources. `--part 2/5` takes every fifth row,
 * beginning with the second. `--today 12` takes 12 rows, other ones each day, until all have had their turn.
 * `--only-mutants` is for who has just seen the tests pass as they are. `--at-once 1` is for a machine that others use.
 */
import { spawn } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { commandLine } from '../test/command.ts';
import { environmentOf } from '../test/mutants/environment.ts';
import { editsOf, type Mutant, replaceOnce } from '../test/mutants/mutant.ts';
import { tableOf } from '../test/mutants/table.ts';
import { BRIDGE, setUpPython } from './python.mjs';

const ROOT = join(import.meta.dirname, '..');
/** A mutant that makes the tests hang is not caught: nobody would learn what is wrong. */
const LIMIT_MS = 300_000;
/** The run of all test files as they are. */
const WHOLE_LIMIT_MS = 3_600_000;
const BAIL = ['--bail=1'];
/** Most mutants are caught here, with moderate volumes, which is enough. Files that do not run there run everywhere. */
const ONE_REGIME = ['--project=locked', '--project=locked, own process', '--passWithNoTests'];
/** The row of the run in which no mechanism is left out. */
const unmutated = '(nothing left out)';

interface Verdict {
  name: string;
  verdict: 'caught' | 'MISSED' | 'BROKEN' | 'passes' | 'FAILS' | 'skipped';
  by: string;
}

interface TestRun {
  /** Counts a run that died, too. */
  failed: number;
  /** The name of a test that failed. */
  first?: string | undefined;
}

const command = commandLine('npm run mutants --')
  .description('Leaves each mechanism out and looks who notices.')
  .argument('[name...]', 'all rows, if none is named')
  .option('--config <file>', 'of vitest', 'vitest.config.ts')
  .option('--part <k/n>', 'every N-th row, beginning with the K-th', '1/1')
  .option('--today <n>', 'N rows, other ones each day')
  .option('--only-mutants', 'without the run in which nothing is left out')
  .option('--at-once <n>', 'how many rows at once', '2')
  .parse();
const values = command.opts<{ config: string; part: string; today?: string; onlyMutants?: true; atOnce: string }>();
const parallel = Number(values.atOnce);
if (!Number.isInteger(parallel) || parallel < 1) command.error('hob: --at-once is a whole number', { exitCode: 2 });
const positionals = command.args;
process.exitCode = await main();

async function main(): Promise<number> {
  const table = await tableOf();
  const [part = 1, parts = 1] = values.part.split('/').map(Number);
  const asked = table.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
  const chosen =
    values.today === undefined
      ? asked.filter((_, index) => index % parts === part - 1)
      : ofToday(asked, Number(values.today), Math.floor(Date.now() / 86_400_000));
  const unknown = positionals.filter((name) => !table.some((mutant) => mutant.name === name));
  const faults = [...unknown.map((name) => `${name}: not in the table`), ...faultsOf(table)];
  for (const fault of faults) console.log(fault);
  if (faults.length > 0) return 1;
  if (chosen.length === 0) {
    console.log('no mutants');
    return 0;
  }

  const widest = Math.max(...chosen.map(({ name }) => name.length), unmutated.length);
  const told = async (judging: Promise<Verdict>): Promise<Verdict> => {
    const row = await judging;
    console.log(`${row.verdict.padEnd(7)}  ${row.name.padEnd(widest)}  ${row.by}`);
    return row;
  };
  const jobs = chosen.map((mutant) => () => told(judge(mutant)));
  if (values.onlyMutants !== true) jobs.unshift(() => told(judgeUnmutated(chosen)));
  const verdicts = await inParallel(jobs);
  const caught = verdicts.filter(({ verdict }) => verdict === 'caught').length;
  const good = verdicts.filter(({ verdict }) => ['caught', 'passes', 'skipped'].includes(verdict)).length;
  console.log(`${caught} of ${chosen.length} mutants caught`);
  return good === verdicts.length ? 0 : 1;
}

/** `count` rows that follow one another, and tomorrow the next ones. */
function ofToday<T>(rows: readonly T[], count: number, day: number): T[] {
  const first = (day * count) % Math.max(rows.length, 1);
  return [...rows, ...rows].slice(first, first + Math.min(count, rows.length));
}

/** Rows that do not fit the sources leave nothing out, or are tested by nothing. */
function faultsOf(table: readonly Mutant[]): string[] {
  const names = new Set<string>();
  return table.flatMap((mutant) => {
    const faults: string[] = [];
    if (names.has(mutant.name)) faults.push('its name stands twice in the table');
    names.add(mutant.name);
    for (const edit of editsOf(mutant))
      try {
        replaceOnce(readFileSync(join(ROOT, edit.file), 'utf8'), edit);
      } catch (error) {
        faults.push((error as Error).message);
      }
    faults.push(
      ...mutant.tests.filter((file) => !existsSync(join(ROOT, file))).map((file) => `${file} does not exist`),
    );
    if (mutant.tests.length === 0) faults.push('it names no test file');
    return faults.map((fault) => `${mutant.name}: ${fault}`);
  });
}

async function judgeUnmutated(mutants: readonly Mutant[]): Promise<Verdict> {
  const files = [...new Set(mutants.flatMap(({ tests }) => tests))].filter((file) => !isPython(file));
  const { failed, first } = files.length === 0 ? { failed: 0, first: '' } : await runTests(files, undefined);
  return { name: unmutated, verdict: failed === 0 ? 'passes' : 'FAILS', by: first ?? '' };
}

function isPython(file: string): boolean {
  return file.endsWith('.py');
}

async function judge(mutant: Mutant): Promise<Verdict> {
  const { name, breaks, tests } = mutant;
  if (tests.some(isPython)) return judgePython(mutant);
  let { failed, first } = await runTests(tests, name, [...BAIL, ...ONE_REGIME], 'moderate');
  if (failed === 0) ({ failed, first } = await runTests(tests, name));
  // Stopped at its first failure, vitest now and then ends before it has said which that was.
  if (failed > 0 && first === undefined) ({ failed, first } = await runTests(tests, name, []));
  if (first !== undefined) return { name, verdict: 'caught', by: first };
  if (failed > 0) return { name, verdict: 'BROKEN', by: `the tests do not run (${breaks})` };
  return { name, verdict: 'MISSED', by: breaks };
}

/** A copy of the package without the mechanism, and pytest over it. */
async function judgePython(mutant: Mutant): Promise<Verdict> {
  const { name, breaks, tests } = mutant;
  const { python, missing } = await setUpPython();
  if (python === undefined) return { name, verdict: 'skipped', by: missing ?? '' };
  const folder = mkdtempSync(join(tmpdir(), 'hob-mutant-'));
  try {
    const source = join(folder, 'src');
    cpSync(join(BRIDGE, 'src'), source, { recursive: true, filter: (file) => !file.endsWith('__pycache__') });
    // The copy finds the rest of the checkout as the package does: a host of its tests would not start otherwise.
    for (const name of ['packages', 'node_modules', '.toolchain']) symlinkSync(join(ROOT, name), join(folder, name));
    for (const edit of editsOf(mutant)) {
      const file = join(folder, edit.file.replace('packages/bridge-python/', ''));
      writeFileSync(file, replaceOnce(readFileSync(file, 'utf8'), edit));
    }
    const env = {
      ...process.env,
      ...temporaryIn(folder),
      PYTHONPATH: source,
      PYTHONDONTWRITEBYTECODE: '1',
      HOB_TEST_REPORT: '',
    };
    const files = tests.map((file) => join(ROOT, file));
    const child = spawn(python, ['-m', 'pytest', '-x', '-q', ...files], { cwd: BRIDGE, env });
    let said = '';
    child.stdout.on('data', (text) => (said += text));
    const limit = setTimeout(() => child.kill('SIGKILL'), LIMIT_MS);
    const code = await new Promise<number | null>((done) => child.once('close', done));
    clearTimeout(limit);
    if (code === 0 && !/\b\d+ passed\b/.test(said))
      return { name, verdict: 'skipped', by: 'its tests need Hermes, which is not installed here' };
    if (code === 0) return { name, verdict: 'MISSED', by: breaks };
    const first = /^FAILED \S*::(\S+)/m.exec(said)?.[1];
    if (code === 1 && first !== undefined) return { name, verdict: 'caught', by: first };
    return { name, verdict: 'BROKEN', by: `the tests do not run (${breaks})` };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function runTests(
  files: readonly string[],
  mutant: string | undefined,
  options: readonly string[] = mutant === undefined ? [] : BAIL,
  volumes: 'moderate' | 'full' = 'full',
): Promise<TestRun> {
  const folder = mkdtempSync(join(tmpdir(), 'hob-mutant-'));
  const report = join(folder, 'report.json');
  // A leftover of tests counts as a failure. With a mechanism left out, a test may not reach its end.
  const temporary = mutant === undefined ? {} : temporaryIn(folder);
  const env = {
    ...process.env,
    ...temporary,
    HOB_DEEP: volumes === 'full' ? '1' : '',
    HOB_TEST_REPORT: report,
    ...environmentOf(mutant ?? ''),
  };
  const vitest = join(ROOT, 'node_modules', 'vitest', 'vitest.mjs');
  const child = spawn(process.execPath, [vitest, 'run', '--config', values.config, ...options, ...files], {
    cwd: ROOT,
    env,
    stdio: 'ignore',
  });
  const limit = setTimeout(() => child.kill('SIGKILL'), mutant === undefined ? WHOLE_LIMIT_MS : LIMIT_MS);
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

/** Variables that name a temporary directory within `folder`, which goes with it. Other users can reach it, as they can /tmp. */
function temporaryIn(folder: string): Readonly<Record<'TMPDIR' | 'TEMP' | 'TMP', string>> {
  const path = join(folder, 'tmp');
  mkdirSync(path);
  chmodSync(folder, 0o755);
  chmodSync(path, 0o1777);
  return { TMPDIR: path, TEMP: path, TMP: path };
}

/** Returns what the jobs return, in their order. */
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
  await Promise.all(Array.from({ length: parallel }, work));
  return answers;
}
