/**
 * Sequences of file operations: Hermes' own file tools, and a directory cap of the work directory, operation by operation.
 *
 * Promise: both begin with the same tree, and a sequence ends at the first operation that they answer differently, for from there on they
 * would be asked different things. Where a path leads is looked up in Hermes' tree, not read from its text.
 */
import fs from 'node:fs';
import { basename, dirname, isAbsolute, join } from 'node:path';
import type { FsCap } from '@hob/caps-fs';
import { E, type Far } from '@hob/vat';
import { codeOf } from './cap.ts';
import type { Class } from './classes.ts';
import type { Hermes } from './hermes.ts';
import { differences, type Machine, type Place, WORK } from './machine.ts';

export type FileOp =
  | { readonly op: 'read'; readonly path: string }
  | { readonly op: 'write'; readonly path: string; readonly text: string }
  | { readonly op: 'edit'; readonly path: string; readonly from: string; readonly to: string };

/** A text (of a read), or that it was done; or why not. */
export interface Answer {
  readonly ok: boolean;
  readonly text?: string;
  readonly why?: string;
}
export interface JudgedFiles {
  readonly ops: readonly FileOp[];
  readonly class: Class;
  readonly note?: string;
  /** The operation that they differ at. */
  readonly at?: number;
  readonly hermes: readonly Answer[];
  readonly cap: readonly Answer[];
}

export interface FileWorlds {
  readonly machine: Machine;
  readonly hermes: Hermes;
  readonly hermesPlace: Place;
  readonly files: Far<FsCap>;
}

/** Differences that are known, each with its reason; `fs-cap.bisim.test.ts` shows each. By the code of the cap. */
export const AGREED_FILES: Readonly<Record<string, string>> = {
  PATH_ABSOLUTE: 'a cap knows no path of the machine: what lies in it has a relative name',
  PATH_ESCAPES:
    'a path that goes up is refused, also where it would come back: `..` has no meaning in a directory that knows none above it',
  RESOLVED_OUTSIDE: 'a link that leaves is refused, also where it comes back',
  NOT_FOUND: 'a write makes no directories; mkdir does',
  IS_A_DIRECTORY:
    'Hermes moves what it wrote into the directory, under a name of its own, and says that it was written',
  NOT_A_FILE: 'a final link is not written through: the file that it names can be named itself',
};

export const NEW_FILE = 'a file that Hermes makes is for its owner alone (600), one that a cap makes is as umask says';

export async function playFiles(
  { machine, hermes, hermesPlace, files }: FileWorlds,
  ops: readonly FileOp[],
  prepare: (root: string) => void = () => {},
): Promise<JudgedFiles> {
  for (const place of [machine.own, hermesPlace]) {
    place.reset();
    prepare(place.root);
  }
  const [before, theirs] = [machine.own.look(), hermesPlace.look()];
  await hermes.ask({ op: 'end' });
  const [inHermes, inCap]: [Answer[], Answer[]] = [[], []];
  const say = (name: Class, note?: string, at?: number): JudgedFiles => ({
    ops,
    class: name,
    ...(note === undefined ? {} : { note }),
    ...(at === undefined ? {} : { at }),
    hermes: inHermes,
    cap: inCap,
  });
  let differing: JudgedFiles | undefined;
  for (const [at, op] of ops.entries()) {
    const outside = leadsOutside(machine, hermesPlace, op.path);
    const [a, b] = [await askHermes(hermes, op), await askCap(files, op)];
    inHermes.push(a);
    inCap.push(b);
    if (b.ok && op.op === 'read' && outside && b.text === a.text && a.ok)
      return say('cap-escape', `read what is outside: ${op.path}`, at);
    const found = difference(op, a, b, outside);
    if (found === undefined) continue;
    differing = say(found[0], found[1], at);
    break;
  }
  const after = machine.own.look();
  const escaped = differences(before.outside, after.outside);
  if (escaped.length > 0) return say('cap-escape', escaped.join('; '));
  if (differing !== undefined) return differing;
  const other = hermesPlace.look();
  const [mine, its] = [differences(before.inside, after.inside), differences(theirs.inside, other.inside)];
  if (mine.join('\n') !== its.join('\n'))
    return mine.map(modeless).join('\n') === its.map(modeless).join('\n')
      ? say('agreed', NEW_FILE)
      : say('unexplained', `the trees inside differ: ${mine} and ${its}`);
  return say('equal');
}

const modeless = (line: string): string => line.replace(/^(\+ .*?: file) \d+/, '$1');

function difference(op: FileOp, hermes: Answer, cap: Answer, outside: boolean): [Class, string] | undefined {
  if (hermes.ok && cap.ok)
    return hermes.text === cap.text ? undefined : ['unexplained', `the texts differ: ${hermes.text} and ${cap.text}`];
  if (!hermes.ok && !cap.ok) return undefined;
  if (cap.ok) return ['hermes-overblock', hermes.why ?? ''];
  if (outside) return ['hermes-escape', `${op.op} ${op.path}: the cap says ${cap.why}`];
  const reason = AGREED_FILES[cap.why ?? ''];
  return reason === undefined ? ['unexplained', `the cap says ${cap.why}`] : ['agreed', `${cap.why}: ${reason}`];
}

async function askHermes(hermes: Hermes, op: FileOp): Promise<Answer> {
  const call = {
    read: () => hermes.tool('read_file', { path: op.path }),
    write: () => hermes.tool('write_file', { path: op.path, content: (op as { text: string }).text }),
    edit: () => {
      const { from, to } = op as { from: string; to: string };
      return hermes.tool('patch', { mode: 'replace', path: op.path, old_string: from, new_string: to });
    },
  }[op.op];
  const answer = await call();
  if (answer === undefined) return { ok: false, why: 'down' };
  const { result } = answer;
  const failed = result['error'] !== undefined && result['error'] !== null;
  if (failed || result['success'] === false || answer.asked.length > 0)
    return { ok: false, why: String(result['error'] ?? 'asked').slice(0, 200) };
  return op.op === 'read' ? { ok: true, text: unnumbered(String(result['content'] ?? '')) } : { ok: true };
}

/** Its lines are numbered, and it counts one after the last line end. */
const unnumbered = (content: string): string =>
  content
    .split('\n')
    .map((line) => line.replace(/^\s*\d+\|/, ''))
    .join('\n')
    .replace(/\n+$/, '');

async function askCap(files: Far<FsCap>, op: FileOp): Promise<Answer> {
  try {
    if (op.op === 'read') return { ok: true, text: (await E(files).readText(op.path)).replace(/\n+$/, '') };
    if (op.op === 'write') await E(files).write(op.path, op.text);
    else await E(files).edit(op.path, [{ oldText: op.from, newText: op.to }]);
    return { ok: true };
  } catch (error) {
    return { ok: false, why: codeOf(error) };
  }
}

/** As far as it is there; what is not there yet would be made where its directory really is. */
export function leadsOutside({ base, home, work }: Machine, { root }: Place, path: string): boolean {
  const expanded = path === '~' || path.startsWith('~/') ? home + path.slice(1) : path;
  const absolute = isAbsolute(expanded) ? expanded : `${work}/${expanded}`;
  if (absolute !== base && !absolute.startsWith(`${base}/`)) return true;
  const real = realest(root + absolute.slice(base.length));
  // A link may name the base itself, which on this machine is the other twin.
  return ![root, base].some((each) => real === join(each, WORK) || real.startsWith(`${join(each, WORK)}/`));
}

function realest(path: string): string {
  try {
    return fs.realpathSync(path);
  } catch {
    // `dirname` is of the text, so what is not there is stepped over from the right, name by name.
    const parent = dirname(path);
    return parent === path ? path : join(realest(parent), basename(path));
  }
}
