/**
 * The program behind `npm start`, `npm test`, …: sets up what is missing, then runs the verb with Node >= 24.
 *
 * Promise: the exit code is the program's own; a signal sent here reaches it; it does not outlive this process.
 * `npm run -s node -- FILE` prints nothing of its own.
 *
 * Plain JavaScript for Node 18.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { forward } from './forward.mjs';
import { ROOT, SetupError, setUp } from './setup.mjs';
import { deepStack } from './stack.mjs';
import { runTests, TESTS } from './test.mjs';

/** The file of a verb. These programs run in the caller's directory: a FILE or DIR they are given is relative to it. */
const PROGRAMS = {
  start: 'packages/cli/src/main.ts',
  agent: 'packages/host/src/programs/agent.ts',
  cli: 'packages/cli/src/main.ts',
  demo: 'examples/demo/main.ts',
  chaos: 'examples/demo/chaos.ts',
  crash: 'test/run-crash.ts',
  'attack:captp': 'packages/vat/attack/run.ts',
  'fuzz:captp': 'packages/vat/attack/fuzz-run.ts',
  'attack:fs': 'packages/caps-fs/attack/run.ts',
  'attack:shell': 'packages/caps-shell/attack/run.ts',
  bisim: 'test-bisim/run.ts',
  agentdojo: 'examples/agentdojo/run.ts',
  doctor: 'packages/caps-shell/src/drivers/doctor.ts',
  bench: 'bench/run.ts',
  mutants: 'scripts/mutants.ts',
  native: 'scripts/native.ts',
  pack: 'scripts/pack.ts',
  release: 'scripts/release.ts',
  api: 'scripts/api/generate.ts',
};

const VERBS = [...Object.keys(PROGRAMS), 'node', ...Object.keys(TESTS), 'lint', 'format'];

/** The verbs that obey `HOB_MUTANT`: they run tests and attacks. A host that people start never does. */
const TESTING = [...Object.keys(TESTS), 'crash', 'attack:captp', 'fuzz:captp', 'attack:fs', 'attack:shell'];

const BIOME = join(ROOT, 'node_modules', '@biomejs', 'biome', 'bin', 'biome');

const [called, ...args] = process.argv.slice(2);
/** `npm start -- --demo` is a program of its own: the host knows nothing of it. */
const verb = called === 'start' && args.some((arg) => /^--(?:demo|sabotage)\b/.test(arg)) ? 'demo' : called;

try {
  process.exitCode = await main();
} catch (error) {
  // A mistake, or something that this machine lacks: one line. Anything else is a fault of ours, with its stack.
  const said = error instanceof SetupError || typeof error?.syscall === 'string' ? error.message : error?.stack;
  process.stderr.write(`hob: ${said ?? error}\n`);
  process.exitCode = 1;
}

async function main() {
  if (verb === '--version' || (args.length === 1 && args[0] === '--version' && ownLine())) return version();
  if (verb === undefined || verb === '--help') return help(verb === undefined ? 2 : 0);
  if (args.includes('--help') && Object.hasOwn(TESTS, verb)) return helpOfTests();
  if (process.env.HOB_MUTANT && TESTING.includes(verb)) {
    const apply = pathToFileURL(join(ROOT, 'test', 'mutants', 'apply.mjs')).href;
    process.env.NODE_OPTIONS = `${process.env.NODE_OPTIONS ?? ''} --import=${apply}`.trim();
  }
  if (Object.hasOwn(TESTS, verb)) return runTests(await setUp(), verb, args);
  if (verb === 'lint') return runTool(['check', '--error-on-warnings', ...args]);
  if (verb === 'format') return runTool(['check', '--write', ...args]);
  // Whatever stands before FILE (`--expose-gc`, `-e`) is node's own option, as if node had been called.
  if (verb === 'node' && args.length > 0) return runHere(args, false);
  if (verb === 'node') return complain('name the file to run: npm run -s node -- FILE [ARGS]');
  if (Object.hasOwn(PROGRAMS, verb)) return runHere([join(ROOT, PROGRAMS[verb]), ...wordsOf(verb), ...args], true);
  const near = VERBS.map((each) => [distance(verb, each), each]).sort(([a], [b]) => a - b)[0];
  const hint = near[0] <= 2 ? ` (Did you mean ${near[1]}?)` : '';
  return complain(`unknown command '${verb}'${hint}; node scripts/hob.mjs --help lists them`);
}

/** `npm start` is `hob workspace`, on a folder of examples if none is named. */
function wordsOf(name) {
  if (name !== 'start') return [];
  const isNamed = args.some((arg) => /^--(?:root|help)(?:=|$)/.test(arg));
  return ['workspace', ...(isNamed ? [] : ['--root', join(ROOT, 'examples', 'workspace')])];
}

/** Whether the verb is a program of ours: node and biome have versions of their own. */
function ownLine() {
  return Object.hasOwn(PROGRAMS, verb) || Object.hasOwn(TESTS, verb);
}

function version() {
  process.stdout.write(`hob ${JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).version}\n`);
  return 0;
}

function help(code) {
  const out = code === 0 ? process.stdout : process.stderr;
  out.write(`Usage: node scripts/hob.mjs COMMAND [ARGUMENTS]\n\nCommands, each with its own --help:\n`);
  for (const each of VERBS) out.write(`  ${each}\n`);
  return code;
}

function helpOfTests() {
  process.stdout.write(
    'Usage: npm run check | npm test | npm run test:deep [-- FILTER …]\n\n' +
      'Runs the tests; with a FILTER those whose path has it. docs/testing.md says what each of them runs.\n',
  );
  return 0;
}

/** How many letters are changed, left out or put in between: Levenshtein, for a hint before there are packages. */
function distance(from, to) {
  let row = Array.from({ length: to.length + 1 }, (_, n) => n);
  for (let i = 1; i <= from.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= to.length; j += 1)
      next[j] = Math.min(next[j - 1] + 1, row[j] + 1, row[j - 1] + (from[i - 1] === to[j - 1] ? 0 : 1));
    row = next;
  }
  return row[to.length];
}

function complain(what) {
  process.stderr.write(`hob: ${what}\n`);
  return 2;
}

async function runTool(biomeArgs) {
  return forward(await setUp(), [BIOME, ...biomeArgs], { cwd: ROOT });
}

/** `ours`: a program of Hob, which listens for the end of its channel to us; a foreign one has to run as if alone. */
async function runHere(nodeArgs, ours) {
  const node = await setUp();
  // `npm run hob` works on the state of `npm start`, where nothing else is said.
  if (ours) process.env.HOB_STATE ??= join(ROOT, '.hob');
  const hooks = ['resolve.mjs', 'orphan.mjs'].map((name) => pathToFileURL(join(ROOT, 'scripts', name)).href);
  return forward(node, [...deepStack(), '--import', hooks[0], '--import', `${hooks[1]}?${process.pid}`, ...nodeArgs], {
    cwd: process.env.INIT_CWD ?? process.cwd(),
    channel: ours,
  });
}
