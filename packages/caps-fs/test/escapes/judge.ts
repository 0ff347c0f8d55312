/**
 * Plays a row: each operation, in a world that is as the row planted it.
 *
 * Promise: it is a fault when the code is another one; when anything outside changed; when a refused
 * operation changed anything; when a result or an error has something of the outside, or a path of the host;
 * when a descriptor stays.
 */
import fs from 'node:fs';
import os from 'node:os';
import { CapError } from '@hob/vat';
import { type FsCode, refusal, systemRefusals } from '../../src/base/errors.ts';
import { type FsCap, openFsCap } from '../../src/index.ts';
import { type OperationName, operationNames, operations } from './operations.ts';
import type { Player, Row } from './row.ts';
import { makeWorld, OUTSIDE_NAME, SECRET, type TestWorld } from './world.ts';

export type Backend = 'proc' | 'native';

interface Scene {
  readonly world: TestWorld;
  readonly root: FsCap;
  readonly cap: FsCap;
  readonly before: ReturnType<TestWorld['snapshot']>;
  /** Descriptors that the cap itself holds. */
  readonly held: number;
}

export interface Judged {
  readonly cells: number;
  readonly faults: readonly string[];
}

/**
 * Whether who runs this process can play the row. Rows with mounts are for a process that was started for
 * them.
 */
export function plays(row: Row, mounts = false): boolean {
  const players: readonly Player[] = mounts ? ['mounts'] : [process.getuid?.() === 0 ? 'root' : 'nonroot'];
  return mounts ? row.player === 'mounts' : row.player === undefined || players.includes(row.player);
}

/** Plays a row with all operations, or with some of them. */
export async function judge(
  row: Row,
  backend?: Backend,
  some: readonly OperationName[] = operationNames,
): Promise<Judged> {
  const faults: string[] = [];
  let scene: Scene | undefined;
  try {
    for (const operation of some) {
      scene ??= await set(row, backend);
      const found = await play(row, operation, scene);
      for (const fault of found.faults) faults.push(`${row.name}, ${operation}: ${fault}`);
      if (!found.changed) continue;
      await strike(scene);
      scene = undefined;
    }
  } finally {
    if (scene) await strike(scene);
  }
  return { cells: some.length, faults };
}

async function set(row: Row, backend: Backend | undefined): Promise<Scene> {
  const world = await makeWorld(row.plants);
  const root = await openFsCap(world.root, backend === undefined ? {} : { backend });
  const cap = row.cap === undefined ? root : await row.cap(root);
  row.then?.(world);
  return { world, root, cap, before: world.snapshot(), held: openBeneath(world.top) };
}

async function strike({ world, root }: Scene): Promise<void> {
  await root.close();
  await world[Symbol.asyncDispose]();
}

async function play(
  row: Row,
  operation: OperationName,
  { world, cap, before, held }: Scene,
): Promise<{ readonly faults: string[]; readonly changed: boolean }> {
  const faults: string[] = [];
  const open = countOpen();
  const { answer, error } = await operations[operation](cap, row.path as string).then(
    (answer: string) => ({ answer, error: undefined }),
    (error: unknown) => ({ answer: '', error }),
  );
  const code = error === undefined ? 'ok' : ((error as { code?: string }).code ?? String(error));
  const expected = row.outcomes[operation];
  if (expected !== '*' && code !== expected) faults.push(`${code} instead of ${expected}`);
  // Node opens descriptors for itself, once: only if there are more is it worth a look where they lead.
  const left = countOpen() === open ? held : openBeneath(world.top);
  if (left !== held) faults.push(`${left - held} descriptors stay open`);
  const after = world.snapshot();
  if (after.outside !== before.outside) faults.push('the outside changed');
  const changed = after.root !== before.root;
  if (changed && code !== 'ok' && row.partial?.includes(operation) !== true)
    faults.push('refused, and changed something');
  if (row.mayReadOutside !== true) {
    for (const secret of [SECRET, OUTSIDE_NAME]) if (answer.includes(secret)) faults.push('the outside was shown');
  }
  if (answer.includes(world.top)) faults.push('a result names a path of the host');
  if (error !== undefined) faults.push(...hostIn(error, world));
  // A change in the place that the root was moved to does not show here.
  return { faults, changed: changed || (row.then !== undefined && code === 'ok') };
}

function countOpen(): number {
  return fs.readdirSync('/proc/self/fd').length;
}

/** Descriptors of this process that lead there, or to what is written about descriptors. */
function openBeneath(top: string): number {
  let count = 0;
  for (const fd of fs.readdirSync('/proc/self/fd')) {
    try {
      const target = fs.readlinkSync(`/proc/self/fd/${fd}`);
      if (target.startsWith(top) || target.includes('/fdinfo')) count += 1;
    } catch {
      // The one that listed the directory is closed again.
    }
  }
  return count;
}

const errnos = new RegExp(`\\b(?:${Object.keys(os.constants.errno).join('|')}|errno|syscall)\\b`);

/**
 * Returns everything that an error tells of the host. An error is one of ours, and its text is that of the
 * table, with a limit or a version at most.
 */
export function hostIn(error: unknown, world: { readonly top: string }): string[] {
  if (!(error instanceof CapError)) return [`not an error of ours: ${error}`];
  const faults: string[] = [];
  const { code, message } = error;
  const keys = Reflect.ownKeys(error).filter((key) => key !== 'stack' && key !== 'message');
  if (keys.join() !== 'code' || error.cause !== undefined) faults.push(`an error carries ${keys.map(String)}`);
  const bySystem = code === 'NOT_PERMITTED' ? [...systemRefusals.values()] : [];
  const fixed = bySystem.find((text) => text === message) ?? refusal(code as FsCode).message;
  if (!message.startsWith(fixed)) faults.push(`a text that is not in the table: ${message}`);
  const detail = message.slice(fixed.length);
  const named = [world.top, os.tmpdir(), os.homedir(), process.cwd(), process.execPath, '/proc', 'self/fd', 'fdinfo'];
  for (const place of named) if (message.includes(place)) faults.push(`an error names the host: ${message}`);
  if (/[/\\]/.test(detail)) faults.push(`an error names a path: ${message}`);
  if (errnos.test(message)) faults.push(`an error names an errno: ${message}`);
  // A number is that of a limit, of the grammar, of an edit, or part of a version; any other might be a descriptor's.
  const counted = ['FS_LIMIT', 'STALE', 'PATH_INVALID'].includes(code) || /^: edit \d+$/.test(detail);
  if (/\d/.test(detail) && !counted) faults.push(`an error carries a number: ${message}`);
  return faults;
}
