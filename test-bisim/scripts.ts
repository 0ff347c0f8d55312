/**
 * A counterexample as a script that plays itself, and the way back.
 *
 * Promise: run by hand it is played in cages (`npm run bisim -- --play`); its commands stand in comments, so that a shell that reads it
 * does nothing else.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Judged } from './classes.ts';
import type { Row } from './rows/row.ts';

const ROW = '#: ';

export function writeScripts(folder: string, all: readonly Judged[]): number {
  rmSync(folder, { recursive: true, force: true });
  const kept = all.filter(({ class: name }) => name !== 'equal');
  for (const { row, class: name, note, hermes } of kept) {
    mkdirSync(join(folder, name), { recursive: true });
    const told = [
      `${name}: ${note ?? ''}`,
      `Hermes: ${hermes.verdict}${hermes.why === undefined ? '' : ` ${hermes.why}`}`,
      ...row.steps,
    ];
    const text = [
      '#!/bin/sh',
      ...told.flatMap((each) => each.split('\n')).map((line) => `# ${line}`),
      'exec npm run -s bisim -- --play "$0"',
      `${ROW}${JSON.stringify(row)}`,
      '',
    ].join('\n');
    writeFileSync(join(folder, name, `${row.id.replaceAll(/[^\w]+/g, '-')}.sh`), text, { mode: 0o755 });
  }
  return kept.length;
}

export function readScript(file: string): Row {
  const line = readFileSync(file, 'utf8')
    .split('\n')
    .find((each) => each.startsWith(ROW));
  if (line === undefined) throw new Error(`${file} is no script of a row`);
  return JSON.parse(line.slice(ROW.length)) as Row;
}
