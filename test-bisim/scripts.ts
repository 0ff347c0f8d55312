/**
 * A counterexample as a script that plays itself, and the way back.
 *
 * Promise: run by hand it is played in cages (`npm run bisim -- --play`); its commands stand in comments, so that a shell that reads it
 * does nothing else.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Judged } from './classes.ts';
import type { Machine } from './machine.ts';
import { tables } from './rows/all.ts';
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

/** Where it is to be played again. */
export interface Here {
  readonly machine: Machine;
  readonly port: number;
  readonly mark: string;
}

/**
 * The row as it is here: the paths of the run that wrote it were others. Also where a text says them in base64 only: so the row of the
 * tables that has its name is taken, if there is one.
 */
export function readScript(file: string, { machine, port, mark }: Here): Row {
  const line = readFileSync(file, 'utf8')
    .split('\n')
    .find((each) => each.startsWith(ROW));
  if (line === undefined) throw new Error(`${file} is no script of a row`);
  const row = JSON.parse(line.slice(ROW.length)) as Row;
  const known = tables(machine, port, mark).find(({ id, kind }) => id === row.id && kind === row.kind);
  const steps = row.steps.map((text) =>
    text
      .replaceAll(/\/var\/tmp\/hob-bisim-machine-\d+-\w{6}/g, machine.base)
      .replaceAll(/hobm\d+/g, mark)
      .replaceAll(/(?<=127\.0\.0\.1[:/ ]|localhost:)\d+/g, String(port)),
  );
  return known ?? { ...row, steps };
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
