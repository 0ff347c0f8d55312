/**
 * The commands and shells of a plan, made.
 *
 * Promise: a program runs in the sandbox only, and its world is the directories that the plan mounts. A command takes
 * the arguments that a row of its manifest describes and no others.
 */
import type { FsCap } from '@hob/caps-fs';
import { type ArgForms, makeCommandCap, makeShellCap, type World } from '@hob/caps-shell';
import { type Plan, type PlannedCommand, type PlannedShell, takesArgs, type Word } from '@hob/manifest';
import { Mistake } from '../line/mistake.ts';
import { type Directories, isWritable, mountsOf } from './directories.ts';
import type { FindProgram } from './machine.ts';
import { mountPoint } from './mount-point.ts';
import type { ProgramWays } from './program-net.ts';

/** Makes the cap of a command. Errors: `Mistake`, and those of the sandbox. */
export async function makeCommand(
  plan: Plan,
  cap: PlannedCommand,
  directories: Directories,
  find: FindProgram,
  ways: ProgramWays,
): Promise<object> {
  const world = { ...(await worldOf(plan, cap, directories)), ...ways };
  return directories.keep(await makeCommandCap(programOf(cap, find), { ...world, args: formsOf(plan, cap) }));
}

/** Makes the cap of a shell. Errors: as above. */
export async function makeShell(
  plan: Plan,
  cap: PlannedShell,
  directories: Directories,
  ways: ProgramWays,
): Promise<object> {
  return directories.keep(await makeShellCap({ ...(await worldOf(plan, cap, directories)), ...ways }));
}

/** The absolute path of the program. Errors: `Mistake`. */
export function programOf({ name, command }: PlannedCommand, find: FindProgram): string {
  const path = find(command);
  if (path === undefined)
    throw new Mistake(
      `${name}: there is no program ${command} on this machine: install it, or write its absolute path`,
    );
  return path;
}

async function worldOf(plan: Plan, cap: PlannedCommand | PlannedShell, directories: Directories): Promise<World> {
  const { name, mounts: names, cwd } = cap;
  const reads = cap.kind === 'command' && cap.reads === true;
  const mounts: Record<string, FsCap> = {};
  // A directory that two caps name is mounted once, writable if one of them is.
  for (const each of [...mountsOf(plan, names)].sort((a, b) => Number(isWritable(a.can)) - Number(isWritable(b.can)))) {
    const mounted = await directories.mounted(each, name);
    mounts[mountPoint(each.directory)] = reads ? await mounted.readOnly() : mounted;
  }
  if (cwd === undefined) return { mounts };
  const at = mountPoint(cwd);
  if (Object.keys(mounts).some((place) => `${at}/`.startsWith(`${place}/`))) return { mounts, cwd: at };
  if (cap.kind === 'shell')
    throw new Mistake(`${name}: it runs in ${at.slice(1)}, which is in none of the directories that it mounts: add a directory cap that has it to mounts`); // biome-ignore format: one line
  // The manifest gives this directory to the program, and not to the agent.
  const own = await directories.whole(cwd);
  return { mounts: { ...mounts, [at]: reads ? await own.readOnly() : own }, cwd: at };
}

function formsOf(plan: Plan, cap: PlannedCommand): ArgForms {
  return {
    forms: cap.rows.map((row) => (row.length === 0 ? '(no arguments)' : row.map(wordText).join(' '))),
    takes: (args, isPath) => takesArgs(plan, cap, args, isPath),
  };
}

function wordText(word: Word): string {
  switch (word.kind) {
    case 'literal':
      return word.texts.join('|');
    case 'path':
      return `path(${word.cap})`;
    case 'flags':
      return `flags(${word.set})`;
    default:
      return word.kind;
  }
}
