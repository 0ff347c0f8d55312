/**
 * Sequences that fast-check makes, of every kind there is, for `npm run bisim`: a count of classes for each family.
 *
 * Promise: a sequence that escapes or is not explained is shrunk, and kept as a script that plays it again; the paths of one run stand in
 * it as names.
 */
import fs from 'node:fs';
import { join } from 'node:path';
import { openFsCap } from '@hob/caps-fs';
import { openVats } from '@hob/vat';
import fc from 'fast-check';
import { COMMANDS, openApprovals, type Step } from './approvals.ts';
import { CLASSES, type Class } from './classes.ts';
import { type FileOp, playFiles } from './files.ts';
import type { Worlds } from './play.ts';
import { approvalSequences, commandSequences, fileSequences } from './rows/generated.ts';
import {
  CALLERS,
  type Caller,
  callerPaths,
  judgeCaller,
  judgeFileRule,
  judgeLoop,
  judgeOverlap,
  OVERLAPPING,
  plantCallers,
  plantOverlapping,
  type Said,
} from './rules.ts';
import { Ends, scratch } from './scratch.ts';
import { writeSequence } from './scripts.ts';
import { openShim } from './shim.ts';

export interface Family {
  readonly name: string;
  /** The seed of one run. Another run has another. */
  readonly base: string;
  readonly sequences: fc.Arbitrary<unknown>;
  /** One answer for each step that can be compared. */
  play(value: unknown): Promise<readonly Said[]>;
}
export interface Counted {
  readonly name: string;
  readonly sequences: number;
  readonly classes: Readonly<Record<Class, number>>;
  /** Where one failed: it, shrunk. */
  readonly fault?: { readonly value: unknown; readonly note: string };
}

const family = <T>(
  name: string,
  base: string,
  sequences: fc.Arbitrary<T>,
  play: (value: T) => Promise<readonly Said[]>,
): Family => ({ name, base, sequences, play: (value) => play(value as T) });

export const isBad = (said: readonly Said[]): Said | undefined =>
  said.find(({ class: name }) => name === 'cap-escape' || name === 'unexplained');

export async function playFamily(
  { name, sequences, play }: Family,
  settings: { readonly seed: number; readonly numRuns: number },
): Promise<Counted> {
  const classes = Object.fromEntries(CLASSES.map((each) => [each, 0])) as Record<Class, number>;
  let played = 0;
  let note = '';
  const property = fc.asyncProperty(sequences, async (value) => {
    const said = await play(value);
    const bad = isBad(said);
    // The shrunk sequence is not counted as well.
    if (note === '') {
      played += 1;
      for (const each of said) classes[each.class] += 1;
    }
    if (bad !== undefined) note = `${bad.class}: ${bad.note}`;
    return bad === undefined;
  });
  const { failed, counterexample } = await fc.check(property, settings);
  return {
    name,
    sequences: played,
    classes,
    ...(failed ? { fault: { value: counterexample?.[0], note: note === '' ? 'it could not be played' : note } } : {}),
  };
}

/** The worlds of the rows. */
export const ofWorlds = (all: Worlds): readonly Family[] => [
  family('files', all.machine.base, fileSequences(all.machine.base), async (ops: readonly FileOp[]) => {
    const { class: name, note = '' } = await playFiles(all.fileWorlds, ops);
    return [{ class: name, note }];
  }),
  family('commands', all.machine.base, commandSequences(all.machine.base), async (steps: readonly string[]) => {
    const row = { id: 'generated/0', family: 'generated', kind: 'generated' as const, steps, needs: [] };
    const played = await all.play(row);
    return played === undefined ? [] : [{ class: played.class, note: played.note ?? '' }];
  }),
];

/** Those that Hermes only says something of. Not while other vats are open. */
export async function withVerdicts<T>(version: string, run: (families: readonly Family[]) => Promise<T>): Promise<T> {
  const made = scratch('sequences');
  const folder = fs.realpathSync(made.path);
  const ends = new Ends();
  ends.add(made.remove);
  try {
    const rules = join(folder, 'rules');
    const home = plantCallers(rules);
    const work = join(rules, 'work');
    fs.mkdirSync(work);
    const shim = openShim(version, rules);
    ends.add(() => shim.close());
    const asked = openShim(version, join(folder, 'asked'));
    ends.add(() => asked.close());
    const cap = await openFsCap(work);
    ends.add(() => cap.close());
    plantOverlapping(work);
    for (const name of ['.env', 'notes.txt']) fs.writeFileSync(join(work, name), 'MINE=1\n');
    const lists = await shim.ask<{ write_denied: string[]; write_denied_prefixes: string[] }>('file_rules', {});
    const files = [
      ...[...lists.write_denied, ...lists.write_denied_prefixes.map((prefix) => `${prefix}x`)],
      ...['~/.ssh/authorized_keys', '~/.ssh/id_rsa', '~/.hermes/config.yaml', '~/.hermes/.env', '/etc/sudoers'],
      ...[
        '/etc/passwd',
        '/etc/shadow',
        '~/.netrc',
        '~/.git-credentials',
        '~/.bashrc',
        '~/.zshrc',
        '/usr/local/bin/git',
      ],
      ...[join(work, '.env'), join(work, 'notes.txt')],
    ];
    const vats = await openVats();
    ends.add(() => vats.close());
    const approvals = await openApprovals(asked, join(folder, 'host'));
    ends.add(() => approvals.close());
    const names = fc.constantFrom(...OVERLAPPING);
    return await run([
      family('approvals', folder, approvalSequences(COMMANDS), (steps: readonly Step[]) => approvals.play(steps)),
      ...(Object.keys(CALLERS) as Caller[]).map((caller) =>
        family(caller, folder, fc.array(callerPaths(join(home, CALLERS[caller].below)), SHORT), (paths: string[]) =>
          inTurn(paths, (path) => judgeCaller(shim, home, caller, path)),
        ),
      ),
      family('file rules', folder, fc.array(fc.constantFrom(...files), SHORT), (paths: string[]) =>
        inTurn(paths, (path) => judgeFileRule(shim, cap, rules, path)),
      ),
      family('overlap', folder, fc.array(fc.tuple(names, names), SHORT), (pairs: [string, string][]) =>
        inTurn(pairs, ([left, right]) => judgeOverlap(shim, cap, work, left, right)),
      ),
      family(
        'loops',
        folder,
        fc.tuple(fc.integer({ min: 1, max: 8 }), fc.integer({ min: 1, max: 12 })),
        async (loop) => [await judgeLoop(shim, vats, ...loop)],
      ),
    ]);
  } finally {
    await ends.close();
  }
}

const SHORT = { minLength: 1, maxLength: 4 };

async function inTurn<T>(all: readonly T[], judge: (each: T) => Promise<Said>): Promise<readonly Said[]> {
  const said: Said[] = [];
  for (const each of all) said.push(await judge(each));
  return said;
}

export interface Played {
  readonly family: Family;
  readonly counted: Counted;
}

/** A table as that of the rows. Scripts for what failed go into `folder`. */
export function reportSequences(
  all: readonly Played[],
  folder: string,
): { readonly table: string; readonly faults: readonly string[] } {
  const line = (name: string, number: string, cells: readonly (string | number)[]): string =>
    [
      name.padEnd(17),
      number.padStart(6),
      ...cells.map((cell, n) => String(cell).padStart(CLASSES[n]?.length ?? 0)),
    ].join('  ');
  const faults = all.flatMap(({ family: { name, base }, counted: { fault } }) => {
    if (fault === undefined) return [];
    const file = writeSequence(folder, { sequence: name, value: fault.value }, fault.note, base);
    return [`a sequence of ${name}: ${fault.note} (${file})`];
  });
  const lines = all.map(({ counted: { name, sequences, classes } }) =>
    line(
      name,
      String(sequences),
      CLASSES.map((each) => classes[each]),
    ),
  );
  const table = [line('sequences', 'number', CLASSES), ...lines, ...faults.map((fault) => `FAILED  ${fault}`)];
  return { table: table.join('\n'), faults };
}
