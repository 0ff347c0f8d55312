/**
 * What `npm start`, `npm test`, … call: sets up what is missing, then runs the verb with Node >= 24.
 *
 * Promise: the exit code is the program's own; a signal sent here reaches it; it does not outlive this process.
 * `npm run -s node -- FILE` prints nothing of its own.
 *
 * Plain JavaScript for Node 18.
 */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { forward } from './forward.mjs';
import { ROOT, SetupError, setUp } from './setup.mjs';
import { testEverything } from './test.mjs';

/** The file of a verb. These programs run in the caller's directory: a FILE or DIR they are given is relative to it. */
const PROGRAMS = {
  start: 'packages/host/src/programs/main.ts',
  agent: 'packages/host/src/programs/agent.ts',
  cli: 'packages/host/src/programs/cli.ts',
  chaos: 'packages/host/src/programs/demo/chaos.ts',
  crash: 'packages/vat/crash/run.ts',
  'attack:captp': 'packages/vat/attack/run.ts',
  'fuzz:captp': 'packages/vat/attack/fuzz-run.ts',
  'attack:fs': 'packages/caps-fs/attack/run.ts',
  'attack:shell': 'packages/caps-shell/attack/run.ts',
  bisim: 'test-bisim/run.ts',
  doctor: 'packages/caps-shell/src/drivers/doctor.ts',
  bench: 'bench/run.ts',
  mutants: 'scripts/mutants.ts',
  pack: 'scripts/pack.ts',
};

/** The verbs that obey `HOB_MUTANT`: they run tests and attacks. A host that people start never does. */
const TESTING = ['test', 'crash', 'attack:captp', 'fuzz:captp', 'attack:fs', 'attack:shell'];

const BIOME = join(ROOT, 'node_modules', '@biomejs', 'biome', 'bin', 'biome');

const [verb, ...args] = process.argv.slice(2);

try {
  process.exitCode = await main();
} catch (error) {
  if (!(error instanceof SetupError)) throw error;
  process.stderr.write(`hob: ${error.message}\n`);
  process.exitCode = 1;
}

async function main() {
  if (process.env.HOB_MUTANT && TESTING.includes(verb)) {
    const apply = pathToFileURL(join(ROOT, 'test', 'mutants', 'apply.mjs')).href;
    process.env.NODE_OPTIONS = `${process.env.NODE_OPTIONS ?? ''} --import=${apply}`.trim();
  }
  if (verb === 'test') return testEverything(await setUp(), args);
  if (verb === 'lint') return runTool(['check', '--error-on-warnings', ...args]);
  if (verb === 'format') return runTool(['check', '--write', ...args]);
  // Whatever stands before FILE (`--expose-gc`, `-e`) is node's own option, as if node had been called.
  if (verb === 'node' && args.length > 0) return runHere(args, false);
  if (verb === 'node') return complain('name the file to run: npm run -s node -- FILE [ARGS]');
  if (Object.hasOwn(PROGRAMS, verb)) return runHere([join(ROOT, PROGRAMS[verb]), ...args], true);
  process.stderr.write(
    `hob: no such verb: ${verb}; there are ${[...Object.keys(PROGRAMS), 'node', 'test', 'lint', 'format'].join(', ')}\n`,
  );
  return 2;
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
  const hooks = ['resolve.mjs', 'orphan.mjs'].map((name) => pathToFileURL(join(ROOT, 'scripts', name)).href);
  return forward(node, ['--import', hooks[0], '--import', `${hooks[1]}?${process.pid}`, ...nodeArgs], {
    cwd: process.env.INIT_CWD ?? process.cwd(),
    channel: ours,
  });
}
