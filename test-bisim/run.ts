/**
 * `npm run bisim [-- --hermes VERSION --family TEXT --part K/N --every N --sequences N --seed N --out DIR --resume --rows FILE --json FILE --play FILE --mutants]`:
 * plays every row in the worlds, and generated sequences, and reports.
 *
 * It says how far it is. Interrupted, it leaves nothing but DIR, and goes on from there with `--resume`.
 *
 * Exits 1 for a cap-escape, an unexplained difference, or where fewer than 99 % of the programs start or of the benign commands work. DIR
 * (`.hob/bisim`) gets `report.json`, `rows.json` and each counterexample as a script.
 *
 * `--rows FILE` plays the rows of a file (`rows/foreign.ts`) and nothing else. `--json FILE` has the report and each row.
 */
import '../bench/lockdown.ts';
import {
  accessSync,
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { hermesPython, setUpHermes } from '../scripts/hermes.mjs';
import { atLeast, commandLine, partOf } from '../test/command.ts';
import type { Judged } from './classes.ts';
import { classesWithout, LEFT_OUT } from './left-out.ts';
import { patternRows, patterns } from './patterns.ts';
import { isThere, openWorlds, type Worlds } from './play.ts';
import { reportOf, tableOf } from './report.ts';
import { tables } from './rows/all.ts';
import { foreignRows } from './rows/foreign.ts';
import type { Row } from './rows/row.ts';
import { exitOnSignals, scratch, sweep } from './scratch.ts';
import { readScript, readSequence, writeScripts } from './scripts.ts';
import { type Family, isBad, ofWorlds, type Played, playFamily, reportSequences, withVerdicts } from './sequences.ts';
import { openSteps, ROWS } from './steps.ts';

const values = commandLine('npm run bisim --')
  .description('Plays every row in the worlds, and generated sequences, and reports.')
  .option('--hermes <version>', 'compared with', '0.19.0')
  .option('--family <text>', 'rows of this family', '')
  .option('--part <k/n>', 'one part of so many', partOf, { part: 0, of: 1 })
  .option('--out <dir>', 'where the report goes', join('.hob', 'bisim'))
  .option('--rows <file>', 'plays the rows of this file alone')
  .option('--json <file>', 'gets the report and the rows that were played')
  .option('--play <file>', 'plays one script')
  .option('--every <n>', 'one row of so many', atLeast(1), 1)
  .option('--sequences <n>', 'so many of each family', atLeast(0), 25)
  .option('--seed <n>', 'of the sequences', atLeast(0), 13)
  .option('--mutants', 'leaves mechanisms out')
  .option('--resume', 'goes on where it was interrupted')
  .parse()
  .opts<{
    hermes: string;
    family: string;
    part: { readonly part: number; readonly of: number };
    out: string;
    rows?: string;
    json?: string;
    play?: string;
    every: number;
    sequences: number;
    seed: number;
    mutants?: boolean;
    resume?: boolean;
  }>();
const PART = 'rows.part';
exitOnSignals(() => {
  const more = values.play === undefined && !values.mutants ? ' `--resume` with the same options goes on.' : '';
  process.stderr.write(`\nbisim: interrupted.${more}\n`);
});
process.exitCode = await main();
// The channel to npm's process would keep us here.
if (process.connected) process.disconnect();

async function main(): Promise<number> {
  let given: readonly Row[] | undefined;
  try {
    given = values.rows === undefined ? undefined : foreignRows(readFileSync(fromHere(values.rows), 'utf8'));
    if (values.play !== undefined) accessSync(fromHere(values.play));
  } catch (error) {
    const { code, message } = error as { readonly code?: string; readonly message: string };
    process.stderr.write(
      `bisim: ${values.rows ?? values.play}: ${code === 'ENOENT' ? 'there is no such file' : message}\n`,
    );
    return 2;
  }
  await setUpHermes();
  const { python, missing } = hermesPython(values.hermes);
  if (python === undefined) {
    process.stderr.write(`bisim: ${missing}\n`);
    return 2;
  }
  sweep();
  const folder = resolve(values.out);
  const script = values.play === undefined ? undefined : fromHere(values.play);
  // Before there are other vats.
  const played = await withVerdicts(values.hermes, async (families) => {
    if (script !== undefined) return await playSequence(families, script);
    return values.mutants ? undefined : await playAllOf(families);
  });
  if (typeof played === 'number') return played;
  const worlds = await openWorlds(python, values.hermes);
  try {
    if (script !== undefined)
      return (await playSequence(ofWorlds(worlds), script)) ?? (await playScript(worlds, script));
    if (values.mutants) return await playMutants(worlds, python);
    const found = given === undefined ? await patterns(worlds.hermes, python) : [];
    const { part, of } = values.part;
    const all = given ?? [...tables(worlds.machine, worlds.port, worlds.mark), ...patternRows(found)];
    const rows = all.filter(
      ({ family }, n) => family.includes(values.family) && n % of === part && n % values.every === 0,
    );
    mkdirSync(folder, { recursive: true });
    const judged = await playAll(worlds, rows, join(folder, PART));
    const report = reportOf(values.hermes, judged);
    const skipped = skippedOf(rows);
    const counted = [...(played ?? []), ...(await playAllOf(ofWorlds(worlds)))];
    const without = found.filter(({ command }) => command === undefined).map(({ description }) => description);
    const shadowed = found.flatMap(({ description, namedAs }) =>
      namedAs === undefined ? [] : [`${description} (${namedAs})`],
    );
    writeFileSync(
      join(folder, 'report.json'),
      `${JSON.stringify({ ...report, sequences: counted.map((each) => each.counted), patterns: found.length, without, shadowed, skipped }, null, 1)}\n`,
    );
    rmSync(join(folder, PART), { force: true });
    writeFileSync(join(folder, 'rows.json'), judged.map((each) => `${JSON.stringify(each)}\n`).join(''));
    if (values.json !== undefined)
      writeFileSync(fromHere(values.json), `${JSON.stringify({ ...report, skipped, played: judged }, null, 1)}\n`);
    const scripts = writeScripts(join(folder, 'counterexamples'), judged);
    process.stdout.write(`${tableOf(report)}\n`);
    process.stdout.write(
      `patterns of its tables: ${found.length}; no command found for: ${without.join(', ') || 'none'}; Hermes names an earlier one for all that match: ${shadowed.join(', ') || 'none'}\n`,
    );
    const lacking = Object.entries(skipped).map(([program, rows]) => `${program} (${rows})`);
    process.stdout.write(
      `rows that were not played, for the programs that they need are not here: ${lacking.join(', ') || 'none'}\n`,
    );
    const sequences = reportSequences(counted, join(folder, 'counterexamples'));
    process.stdout.write(`${sequences.table}\n`);
    process.stdout.write(`${scripts} counterexamples in ${folder}\n`);
    return report.faults.length + sequences.faults.length === 0 ? 0 : 1;
  } finally {
    await worlds.close();
  }
}

/** The folder in which `npm run` was typed. */
function fromHere(file: string): string {
  return resolve(process.env['INIT_CWD'] ?? '.', file);
}

/** How many rows each program that is not here keeps from being played. */
function skippedOf(rows: readonly Row[]): Readonly<Record<string, number>> {
  const skipped: Record<string, number> = {};
  for (const { needs } of rows) {
    const lacking = needs.find((program) => !isThere(program));
    if (lacking !== undefined) skipped[lacking] = (skipped[lacking] ?? 0) + 1;
  }
  return skipped;
}

/** Each is written down as soon as it is played; those that an interrupted run wrote down are not played again. */
async function playAll(worlds: Worlds, rows: readonly Row[], file: string): Promise<readonly Judged[]> {
  const { hermes, family, part, every } = values;
  const head = JSON.stringify({ hermes, family, part, every, rows: rows.length });
  const [said, ...lines] = values.resume && existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
  if (said !== undefined && said !== head) throw new Error(`${file} is of another run: ${said}`);
  const known = new Map<string, Judged>();
  for (const line of lines) {
    const judged = judgedOf(line);
    if (judged !== undefined) known.set(judged.row.id, judged);
  }
  // Written anew: the last line of what was interrupted may be half of one.
  writeFileSync(`${file}.new`, [head, ...[...known.values()].map((each) => JSON.stringify(each)), ''].join('\n'));
  renameSync(`${file}.new`, file);
  const judged: Judged[] = [];
  const tell = progress('rows', rows.length);
  for (const row of rows) {
    const played = known.get(row.id) ?? (await worlds.play(row));
    if (played !== undefined) {
      judged.push(played);
      if (!known.has(row.id)) appendFileSync(file, `${JSON.stringify(played)}\n`);
    }
    tell();
  }
  return judged;
}

function judgedOf(line: string): Judged | undefined {
  try {
    return JSON.parse(line) as Judged;
  } catch {
    return undefined;
  }
}

/** One more is done: on a terminal it is told at once, in a log now and then. */
function progress(what: string, of: number): () => void {
  let done = 0;
  let told = Date.now();
  const began = told;
  return () => {
    done += 1;
    const now = Date.now();
    const { isTTY } = process.stderr;
    if (!isTTY && done < of && now - told < 30_000) return;
    told = now;
    const minutes = ((now - began) / 60_000).toFixed(1);
    process.stderr.write(
      `${isTTY ? '\r' : ''}bisim: ${done} of ${of} ${what}, ${minutes} min${isTTY && done < of ? ' ' : '\n'}`,
    );
  };
}

/** Those that `--family` names. */
async function playAllOf(families: readonly Family[]): Promise<readonly Played[]> {
  const settings = { seed: values.seed, numRuns: values.rows === undefined ? values.sequences : 0 };
  const all: Played[] = [];
  for (const family of families) {
    if (!family.name.includes(values.family) || settings.numRuns === 0) continue;
    const tell = progress(`sequences of ${family.name}`, 1);
    all.push({ family, counted: await playFamily(family, settings) });
    tell();
  }
  return all;
}

/** Undefined: the script is none of these families. */
async function playSequence(families: readonly Family[], file: string): Promise<number | undefined> {
  for (const family of families) {
    const kept = readSequence(file, family.base);
    if (kept?.sequence !== family.name) continue;
    const said = await family.play(kept.value);
    process.stdout.write(`${JSON.stringify(said, null, 1)}\n`);
    return isBad(said) === undefined ? 0 : 1;
  }
  return undefined;
}

/** Each step of the sandbox left out, one after the other; `--family` names some. */
async function playMutants(worlds: Worlds, python: string): Promise<number> {
  const { path: folder, remove } = scratch('build');
  const steps = await openSteps(worlds, python, folder);
  const counts = { noticed: 0, MISSED: 0, 'not here': 0 };
  try {
    for (const row of ROWS.filter(({ step }) => step.includes(values.family))) {
      const { step, also, seen, lacks, noticed } = await steps.play(row);
      const how = lacks !== undefined ? 'not here' : noticed ? 'noticed' : 'MISSED';
      counts[how] += 1;
      const where = also.length === 0 ? '' : ` where ${also.join(', ')} would hold it`;
      process.stdout.write(`${how.padEnd(8)}  ${step}${where}: ${lacks ?? seen}\n`);
      if (row.why !== undefined && lacks === undefined) process.stdout.write(`${''.padEnd(8)}  ${row.why}\n`);
    }
  } finally {
    await steps.close();
    remove();
  }
  for (const each of LEFT_OUT.filter(({ mutant }) => mutant.includes(values.family))) {
    const whole = await classesWithout(python, '', each);
    const without = await classesWithout(python, each.mutant, each);
    const how = !whole.includes('cap-escape') && without.includes('cap-escape') ? 'noticed' : 'MISSED';
    counts[how] += 1;
    process.stdout.write(`${how.padEnd(8)}  ${each.mutant} (of the caps): ${without.at(-1)}: ${each.what}\n`);
  }
  const named = new Set(ROWS.map(({ step }) => step)).size;
  process.stdout.write(
    `${counts.noticed} noticed, ${counts.MISSED} missed, ${counts['not here']} not to be shown here; ${named} steps\n`,
  );
  return counts.MISSED === 0 ? 0 : 1;
}

async function playScript({ play, machine, port, mark }: Worlds, file: string): Promise<number> {
  const played = await play(readScript(file, { machine, port, mark }));
  process.stdout.write(`${JSON.stringify(played, null, 1)}\n`);
  return played === undefined || played.class === 'cap-escape' || played.class === 'unexplained' ? 1 : 0;
}
