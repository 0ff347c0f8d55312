/**
 * `npm run bisim [-- --hermes VERSION --family TEXT --part K/N --out DIR --play FILE]`: plays every row in the worlds and reports.
 *
 * Exits 1 for a cap-escape, an unexplained difference, or where fewer than 99 % of the programs start or of the benign commands work. DIR
 * (`.hob/bisim`) gets `report.json`, `rows.json` and each counterexample as a script.
 */
import '../bench/lockdown.ts';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { hermesPython, setUpHermes } from '../scripts/hermes.mjs';
import type { Judged } from './classes.ts';
import { patternRows, patterns } from './patterns.ts';
import { openWorlds, type Worlds } from './play.ts';
import { reportOf, tableOf } from './report.ts';
import { tables } from './rows/all.ts';
import type { Row } from './rows/row.ts';
import { readScript, writeScripts } from './scripts.ts';

const { values } = parseArgs({
  options: {
    hermes: { type: 'string', default: '0.19.0' },
    family: { type: 'string', default: '' },
    part: { type: 'string', default: '0/1' },
    out: { type: 'string', default: join('.hob', 'bisim') },
    play: { type: 'string' },
  },
});
process.exitCode = await main();
// The channel to npm's process would keep us here.
if (process.connected) process.disconnect();

async function main(): Promise<number> {
  await setUpHermes();
  const { python, missing } = hermesPython(values.hermes);
  if (python === undefined) {
    process.stderr.write(`bisim: ${missing}\n`);
    return 2;
  }
  const worlds = await openWorlds(python, values.hermes);
  try {
    if (values.play !== undefined) return await playScript(worlds, values.play);
    const found = await patterns(worlds.hermes, python);
    const [part = 0, of = 1] = values.part.split('/').map(Number);
    const rows = [...tables(worlds.machine, worlds.port, worlds.mark), ...patternRows(found)].filter(
      ({ family }, n) => family.includes(values.family) && n % of === part,
    );
    const judged = await playAll(worlds, rows);
    const report = reportOf(values.hermes, judged);
    const folder = resolve(values.out);
    mkdirSync(folder, { recursive: true });
    const without = found.filter(({ command }) => command === undefined).map(({ description }) => description);
    writeFileSync(
      join(folder, 'report.json'),
      `${JSON.stringify({ ...report, patterns: found.length, without }, null, 1)}\n`,
    );
    writeFileSync(join(folder, 'rows.json'), judged.map((each) => `${JSON.stringify(each)}\n`).join(''));
    const scripts = writeScripts(join(folder, 'counterexamples'), judged);
    process.stdout.write(`${tableOf(report)}\n`);
    process.stdout.write(
      `patterns of its tables: ${found.length}; no command found for: ${without.join(', ') || 'none'}\n`,
    );
    process.stdout.write(`${scripts} counterexamples in ${folder}\n`);
    return report.faults.length === 0 ? 0 : 1;
  } finally {
    await worlds.close();
  }
}

async function playAll(worlds: Worlds, rows: readonly Row[]): Promise<readonly Judged[]> {
  const judged: Judged[] = [];
  for (const [n, row] of rows.entries()) {
    const played = await worlds.play(row);
    if (played !== undefined) judged.push(played);
    if (process.stderr.isTTY) process.stderr.write(`\r${n + 1} of ${rows.length} `);
  }
  return judged;
}

/** The paths of the run that wrote it were others. */
async function playScript({ play, machine, port, mark }: Worlds, file: string): Promise<number> {
  const row = readScript(resolve(process.env['INIT_CWD'] ?? '.', file));
  const steps = row.steps.map((text) =>
    text
      .replaceAll(/\/var\/tmp\/hob-bisim-\w{6}/g, machine.base)
      .replaceAll(/hobm\d+/g, mark)
      .replaceAll(/(?<=127\.0\.0\.1[:/ ]|localhost:)\d+/g, String(port)),
  );
  const played = await play({ ...row, steps });
  process.stdout.write(`${JSON.stringify(played, null, 1)}\n`);
  return played === undefined || played.class === 'cap-escape' || played.class === 'unexplained' ? 1 : 0;
}
