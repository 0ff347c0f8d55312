/**
 * `npm run check`, `npm test` and `npm run test:deep`; then what was skipped and why, then one line that counts.
 *
 * - `check`: lint, types, and the test files of under 2.5 s of processor time.
 * - `test`: lint, types, and every promise with moderate volumes, in every language. Nothing is downloaded for the deep run.
 * - `test:deep`: kills, races, users and kernels, full volumes, the real Hermes (340 MB), the SDKs of agent loops
 *   (200 MB), those of Python (300 MB), the real agent hosts (`scripts/agents.mjs`), and some mutants each day.
 *
 * `test/tiers.ts` says which test files each of them runs. With a FILTER, `test` and `test:deep` run the test files whose
 * path matches, whatever their tier, and nothing else.
 *
 * Promise: the last line is `N passed, N failed, N skipped`, over everything, and the exit code is 0 only with nothing
 * failed. A suite that dies without a report counts as one failure.
 *
 * Plain JavaScript for Node 18.
 */
import { spawn } from 'node:child_process';
import { chmodSync, closeSync, mkdirSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setUpAdapters } from './adapters.mjs';
import { setUpAgentdojo } from './agentdojo.mjs';
import { AGENT_NAMES, setUpAgents } from './agents.mjs';
import { setUpHermes } from './hermes.mjs';
import { setUpMcpCheckers, setUpMcpServers } from './mcp-servers.mjs';
import { BRIDGE, setUpPython } from './python.mjs';
import { setUpSdks } from './sdks.mjs';
import { environmentFor, ROOT } from './setup.mjs';

const bin = (...path) => join(ROOT, 'node_modules', ...path);

/** The verbs, and what each one runs. Each gets the FILTER and the temporary folder of this run. */
export const TESTS = { check, test: testMost, 'test:deep': testDeep };

/**
 * A suite is one command, of node unless it says which. One that `reports` writes `{passed, failed, skips}` as JSON into
 * `HOB_TEST_REPORT`; one that is `missing` something is a skip with that reason. Suites in a list of their own run beside
 * one another; what the later ones say comes at their end.
 */
const LINT = { name: 'lint', args: [bin('@biomejs', 'biome', 'bin', 'biome'), 'check', '--error-on-warnings'] };
/** The compiler keeps its results, so the next run checks only the files that changed and those that import them. */
const TYPES = {
  name: 'types',
  args: [
    ...[bin('typescript', 'bin', 'tsc'), '-p', 'tsconfig.json'],
    ...['--incremental', '--tsBuildInfoFile', join(ROOT, '.toolchain', 'types.tsbuildinfo')],
  ],
};

/** These run beside the tests, and end long before them. */
const LATER = [LINT, TYPES].map((suite) => ({ ...suite, later: true }));

function vitest(filter, env) {
  return { name: 'tests', args: [bin('vitest', 'vitest.mjs'), 'run', ...filter], env, reports: true };
}

function check(filter) {
  return [[vitest(filter, { HOB_TIER: 'check' }), ...LATER]];
}

async function testMost(filter) {
  if (filter.length > 0) return named(filter, {});
  return [[vitest([], { HOB_TIER: 'test' }), ...LATER, ...(await python(false))]];
}

async function testDeep(filter, folder) {
  const env = { HOB_DEEP: '1' };
  if (filter.length > 0) return named(filter, env);
  await Promise.all([
    setUpHermes(),
    setUpAdapters(),
    setUpSdks(),
    setUpMcpServers(),
    setUpMcpCheckers(),
    setUpAgentdojo(),
    setUpAgents(),
  ]);
  // They run beside the tests. When they ran after them, they took two minutes of an idle machine, because a
  // mutant that stops something for ever is found only by a time limit.
  const mutants = {
    name: 'mutants of the day',
    args: [join(ROOT, 'scripts', 'mutants.ts'), '--today', '4', '--only-mutants'],
    later: true,
  };
  // Packing comes first: the tests start `hob` packed and installed, as users have it (`test/hob-program.ts`).
  const installed = join(folder, 'installed');
  const packing = { name: 'packing', args: [join(ROOT, 'test', 'packed', 'prepare.ts'), installed] };
  const tests = vitest([], { ...env, HOB_TIER: 'deep', HOB_TEST_INSTALLED: installed });
  return [packing, [tests, ...(await python(true)), mutants]];
}

/** Whoever names a part of the tests waits for Hermes and for SDKs only when that part is about them. */
async function named(filter, env) {
  if (filter.some((part) => /bisim|hermes/.test(part))) await setUpHermes();
  if (filter.some((part) => /examples\/tools/.test(part))) await setUpSdks();
  if (filter.some((part) => /agentdojo/.test(part))) await setUpAgentdojo();
  if (filter.some((part) => /mcp/.test(part))) await Promise.all([setUpMcpServers(), setUpMcpCheckers()]);
  await setUpAgents(AGENT_NAMES.filter((name) => filter.some((part) => part.includes(`recipes/real/${name}`))));
  return [vitest(filter, env)];
}

async function python(inReal) {
  const { python: command, missing } = await setUpPython();
  if (missing !== undefined) return [{ name: 'python', missing, need: 'python' }];
  const cwd = BRIDGE;
  const env = { PYTHONPATH: join(BRIDGE, 'src'), PYTHONDONTWRITEBYTECODE: '1' };
  // Each file is in exactly one of the two runs. The deep run has the files that need the real Hermes or a real
  // framework, and those that install the package in an empty environment.
  const real = readdirSync(join(BRIDGE, 'tests'))
    .filter((file) => /^test_(adapters|hermes|installed|shim)/.test(file))
    .map((file) => `tests/${file}`);
  const suite = (name, args) => ({ name, command, args: ['-m', 'pytest', ...args], cwd, env, reports: true });
  if (inReal) return [{ ...suite('python in Hermes and frameworks', real), later: true }];
  const cache = join(ROOT, '.toolchain', 'mypy');
  const others = real.map((file) => `--ignore=${file}`);
  return [
    { name: 'python types', command, args: ['-m', 'mypy', '--cache-dir', cache], cwd, env, later: true },
    { ...suite('python', others), later: true },
  ];
}

/** Hermes keeps the state of its shell there, and leaves it when a test kills Hermes. */
const OF_HERMES = /^hermes-(?:cwd|snap)-[0-9a-f]{12}\.(?:txt|sh)(?:\.tmp\.\d+)?$/;

/** The options of vitest that a run of these suites may have. */
const OPTION = /^(?:-t|-u|--testNamePattern|--(?:bail|project|reporter|testNamePattern)=.*)$/;

export async function runTests(node, verb, filter) {
  const wrong = filter.find((word, at) => word.startsWith('-') && !OPTION.test(word) && filter[at - 1] !== '-t');
  if (wrong !== undefined) {
    console.error(`hob: npm run ${verb} does not know the option '${wrong}'`);
    console.error(
      'usage: parts of the paths of test files, and -t NAME, -u, --bail=N, --project=NAME, --reporter=NAME',
    );
    return 2;
  }
  const folder = mkdtempSync(join(tmpdir(), 'hob-test-'));
  // Also when a signal ends the run.
  process.once('exit', () => remove(folder));
  const temporary = temporaryFolderIn(folder);
  const total = { passed: 0, failed: 0, skips: [] };
  const times = [];
  let left = [];
  try {
    for (const beside of await TESTS[verb](filter, folder)) {
      await Promise.all(
        [beside].flat().map(async (suite) => {
          const began = Date.now();
          const counts = await runSuite(node, suite, join(folder, suite.name.replaceAll(' ', '-')), temporary);
          total.passed += counts.passed;
          total.failed += counts.failed;
          total.skips.push(...counts.skips);
          const seconds = ((Date.now() - began) / 1000).toFixed(1);
          times.push(`${suite.name} ${seconds} s${counts.failed > 0 ? ' FAILED' : ''}`);
        }),
      );
    }
    left = readdirSync(temporary).filter((name) => !OF_HERMES.test(name));
  } finally {
    remove(folder);
  }
  console.log(`\n${times.join(', ')}`);
  if (left.length > 0) {
    total.failed += 1;
    console.log(`left in the temporary directory, which counts as a failure: ${left.join(', ')}`);
  }
  printSkips(total.skips);
  console.log(`${total.passed} passed, ${total.failed} failed, ${total.skips.length} skipped`);
  return total.failed > 0 ? 1 : 0;
}

function remove(folder) {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch {
    // A test left something there that cannot be removed, a mount say. It is named.
  }
}

/**
 * The temporary directory of the tests. What they leave there is seen, and goes.
 *
 * Everybody may use it, as the system's: some tests run programs as another user.
 */
function temporaryFolderIn(folder) {
  const temporary = join(folder, 'tmp');
  mkdirSync(temporary);
  if (process.platform === 'win32') return temporary;
  chmodSync(folder, 0o755);
  chmodSync(temporary, 0o1777);
  return temporary;
}

async function runSuite(node, suite, report, temporary) {
  if (suite.missing !== undefined) {
    const wanted = (process.env.HOB_REQUIRE ?? '').split(',').some((name) => name.trim() === suite.need);
    const skip = { file: `suite ${suite.name}`, name: 'all of it', reason: suite.missing, regime: suite.name };
    return wanted ? { passed: 0, failed: 1, skips: [] } : { passed: 0, failed: 0, skips: [skip] };
  }
  const env = {
    ...environmentFor(node),
    ...suite.env,
    HOB_TEST_REPORT: report,
    ...Object.fromEntries(['TMPDIR', 'TEMP', 'TMP'].map((name) => [name, temporary])),
    // These two keep files on purpose. Tests start programs of Node some thousand times: a start takes half as long
    // with its modules compiled.
    NODE_COMPILE_CACHE: `${report}-compiled`,
    PYTEST_ADDOPTS: `${process.env.PYTEST_ADDOPTS ?? ''} --basetemp=${report}-files`.trim(),
  };
  const code = await run(
    suite.command ?? node,
    suite.args,
    env,
    suite.cwd ?? ROOT,
    suite.later ? `${report}.said` : undefined,
  );
  if (!suite.reports) return { passed: code === 0 ? 1 : 0, failed: code === 0 ? 0 : 1, skips: [] };
  try {
    const counts = JSON.parse(readFileSync(report, 'utf8'));
    if (code !== 0 && counts.failed === 0) counts.failed = 1;
    return counts;
  } catch {
    return { passed: 0, failed: 1, skips: [] };
  }
}

/** Its output goes into the file `said`, if there is one, and is printed at its end. */
function run(command, args, env, cwd, said) {
  const file = said === undefined ? undefined : openSync(said, 'w');
  const child = spawn(command, args, { cwd, env, stdio: file === undefined ? 'inherit' : ['ignore', file, file] });
  if (file !== undefined) closeSync(file);
  const stop = (signal) => {
    child.kill(signal);
    child.once('exit', () => process.exit(1)); // what was asked to stop does not go on with the next suite
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => {
      process.off('SIGINT', stop);
      process.off('SIGTERM', stop);
      if (said !== undefined) process.stdout.write(readFileSync(said));
      resolve(code ?? 1);
    });
  });
}

/** The same test skipped in both regimes is two skips and one line. */
function printSkips(skips) {
  if (skips.length === 0) return;
  const lines = new Map();
  for (const { file, name, reason, regime } of skips) {
    const key = JSON.stringify([reason, file, name]);
    lines.set(key, [...(lines.get(key) ?? []), regime]);
  }
  console.log('\nSkipped');
  for (const [key, regimes] of [...lines].sort()) {
    const [reason, file, name] = JSON.parse(key);
    console.log(`  ${reason} | ${file} | ${name} | ${regimes.join(', ')}`);
  }
  console.log('');
}
