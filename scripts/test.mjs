/**
 * `npm test`: lint, types, the tests of every language; then what was skipped and why, then one line that counts.
 *
 * Promise: the last line is `N passed, N failed, N skipped`, over everything, and the exit code is 0 only with nothing
 * failed. A suite that dies without a report counts as one failure. With a FILTER only the tests that match run.
 *
 * Plain JavaScript for Node 18.
 */
import { spawn } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setUpHermes } from './hermes.mjs';
import { BRIDGE, setUpPython } from './python.mjs';
import { environmentFor, ROOT } from './setup.mjs';

const bin = (...path) => join(ROOT, 'node_modules', ...path);

/**
 * A suite is one command, of node unless it says which. One that `reports` writes `{passed, failed, skips}` as JSON into `HOB_TEST_REPORT`;
 * one that is `missing` something is a skip with that reason. Those in a list of their own run beside one another; what the later ones say comes at their end.
 */
const suites = async (filter) => {
  const vitest = { name: 'tests', args: [bin('vitest', 'vitest.mjs'), 'run', ...filter], reports: true };
  // Before the first probe asks for it. Whoever runs a part of the tests waits for Hermes only when that part is about it.
  // `.ci/run` has asked for it already: what it does not require could not be had, and is not waited for twice.
  const { HOB_REQUIRE: required } = process.env;
  const wanted = required === undefined || required === '' || required.includes('hermes');
  if (wanted && (filter.length === 0 || filter.some((part) => /bisim|hermes/.test(part)))) await setUpHermes();
  if (filter.length > 0) return [vitest];
  return [
    { name: 'lint', args: [bin('@biomejs', 'biome', 'bin', 'biome'), 'check', '--error-on-warnings'] },
    { name: 'types', args: [bin('typescript', 'bin', 'tsc'), '-p', 'tsconfig.json'] },
    vitest,
    ...(await python()),
  ];
};

async function python() {
  const { python: command, missing } = await setUpPython();
  if (missing !== undefined) return [{ name: 'python', missing, need: 'python' }];
  const cwd = BRIDGE;
  const env = { PYTHONPATH: join(BRIDGE, 'src'), PYTHONDONTWRITEBYTECODE: '1' };
  const cache = join(ROOT, '.toolchain', 'mypy');
  // Each file is in exactly one half; about as long as each other on two cores.
  const real = readdirSync(join(BRIDGE, 'tests'))
    .filter((file) => file.startsWith('test_hermes'))
    .map((file) => `tests/${file}`);
  const others = ['-m', 'pytest', ...real.map((file) => `--ignore=${file}`)];
  return [
    { name: 'python types', command, args: ['-m', 'mypy', '--cache-dir', cache], cwd, env },
    [
      { name: 'python', command, args: others, cwd, env, reports: true },
      { name: 'python in Hermes', command, args: ['-m', 'pytest', ...real], cwd, env, reports: true, later: true },
    ],
  ];
}

export async function testEverything(node, filter) {
  const folder = mkdtempSync(join(tmpdir(), 'hob-test-'));
  const total = { passed: 0, failed: 0, skips: [] };
  const times = [];
  try {
    for (const beside of await suites(filter)) {
      await Promise.all(
        [beside].flat().map(async (suite) => {
          const began = Date.now();
          const counts = await runSuite(node, suite, join(folder, suite.name.replaceAll(' ', '-')));
          total.passed += counts.passed;
          total.failed += counts.failed;
          total.skips.push(...counts.skips);
          const seconds = ((Date.now() - began) / 1000).toFixed(1);
          times.push(`${suite.name} ${seconds} s${counts.failed > 0 ? ' FAILED' : ''}`);
        }),
      );
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  console.log(`\n${times.join(', ')}`);
  printSkips(total.skips);
  console.log(`${total.passed} passed, ${total.failed} failed, ${total.skips.length} skipped`);
  return total.failed > 0 ? 1 : 0;
}

async function runSuite(node, suite, report) {
  if (suite.missing !== undefined) {
    const wanted = (process.env.HOB_REQUIRE ?? '').split(',').some((name) => name.trim() === suite.need);
    const skip = { file: `suite ${suite.name}`, name: 'all of it', reason: suite.missing, regime: suite.name };
    return wanted ? { passed: 0, failed: 1, skips: [] } : { passed: 0, failed: 0, skips: [skip] };
  }
  const env = { ...environmentFor(node), ...suite.env, HOB_TEST_REPORT: report };
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

/** What it says goes into the file `said`, if there is one, and comes at its end. */
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
