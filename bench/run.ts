/**
 * `npm run bench [-- SUITE … --json FILE --case TEXT --quick --full]`: measures, prints a table, and exits
 * 1 if a goal is missed.
 *
 * Without a suite all of them run. `--case` takes only the cases with TEXT in their name. `--quick` leaves
 * out those that take more than some seconds. `--full` makes the largest ones as large as the goals say.
 * FILE gets one line of JSON for each case.
 *
 * Before each suite, this measures for a second how many processors other work keeps busy. The figure is printed below
 * the table, and is `load` in FILE.
 *
 * Each suite runs in a process of its own (`suite.ts`), so none is measured with the compiled code and the
 * heap of another.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { commandLine } from '../test/command.ts';
import { loadText, otherWork } from './load.ts';
import { type Row, table } from './measure.ts';
import { suites } from './suites.ts';

const command = commandLine('npm run bench --')
  .description('Measures, prints a table, and exits 1 if a goal is missed.')
  .argument('[suite...]', 'all of them, if none is named')
  .option('--json <file>', 'a line of JSON for each case')
  .option('--case <text>', 'cases with TEXT in their name')
  .option('--quick', 'leaves out those that take more than some seconds')
  .option('--full', 'the largest ones in full size')
  .parse();
const values = command.opts<{ json?: string; case?: string; quick?: boolean; full?: boolean }>();
const positionals = command.args;
const unknown = positionals.filter((name) => !Object.hasOwn(suites, name));
if (unknown.length > 0) {
  process.stderr.write(`bench: no such suite: ${unknown.join(', ')}; there are ${Object.keys(suites).join(', ')}\n`);
  process.exit(2);
}

const chosen = positionals.length === 0 ? Object.keys(suites) : positionals;
let running: ChildProcess | undefined;
// Whoever started us has gone: nobody reads the figures.
process.on('disconnect', () => running?.kill());

const rows: (Row & { readonly load: number })[] = [];
const loads: Record<string, number> = {};
for (const name of chosen) {
  const load = Number((await otherWork()).toFixed(2));
  loads[name] = load;
  for (const row of await runSuite(name)) rows.push({ ...row, load });
}
process.stdout.write(`${table(rows)}\n${loadText(loads)}\n`);
if (values.json !== undefined) writeFileSync(values.json, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
if (rows.some((row) => row.verdict === 'missed')) process.exitCode = 1;
// The channel to npm's process would keep us here.
if (process.connected) process.disconnect();

function runSuite(name: string): Promise<Row[]> {
  const found: Row[] = [];
  const child = fork(
    new URL('suite.ts', import.meta.url),
    [name, values.case ?? '', values.quick ? 'quick' : '', values.full ? '--full' : ''],
    {
      execArgv: [...process.execArgv, '--expose-gc'],
    },
  );
  running = child;
  child.on('message', (row: Row) => {
    found.push(row);
    process.stderr.write(`${row.suite}: ${row.case}\n`);
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      if (code === 0) resolve(found);
      else reject(new Error(`the suite ${name} ended with ${signal ?? code}`));
    });
  });
}
