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

/** A sequence of `sequences.ts`. */
export interface Kept {
  readonly sequence: string;
  readonly value: unknown;
}
const SEQUENCE = '#= ';
const BASE = '@BASE@';

/** `base`: the folder of this run, which the next one has elsewhere. Answers the file. */
export function writeSequence(folder: string, kept: Kept, note: string, base: string): string {
  const text = JSON.stringify(kept).replaceAll(base, BASE);
  const lines = [
    '#!/bin/sh',
    ...`${note}\n${text}`.split('\n').map((line) => `# ${line.replaceAll(base, BASE)}`),
    'exec npm run -s bisim -- --play "$0"',
    `${SEQUENCE}${text}`,
    '',
  ];
  mkdirSync(join(folder, 'sequences'), { recursive: true });
  const file = join(folder, 'sequences', `${kept.sequence.replaceAll(/[^\w]+/g, '-')}.sh`);
  writeFileSync(file, lines.join('\n'), { mode: 0o755 });
  return file;
}

/** Undefined: it is the script of a row. `base`: the folder of this run. */
export function readSequence(file: string, base: string): Kept | undefined {
  const line = readFileSync(file, 'utf8')
    .split('\n')
    .find((each) => each.startsWith(SEQUENCE));
  return line === undefined ? undefined : (JSON.parse(line.slice(SEQUENCE.length).replaceAll(BASE, base)) as Kept);
}
