/**
 * What a job's world consists of, as the sandbox program is told.
 *
 * Promise: `specOf` writes each value as one field that ends in NUL. Nothing is quoted, because nothing is parsed: a value
 * that holds a NUL is refused, everything else arrives as it is. sandbox/PROTOCOL.md is the other half.
 */
import { CapError } from '@hob/vat';

/** A file or directory by what it is, not by its name. */
export interface Identity {
  readonly dev: bigint;
  readonly ino: bigint;
}

/** A mount, made of a descriptor that is open while the job is started. */
export interface Mount extends Identity {
  readonly fd: number;
  /** Where it appears: absolute, without `.` and `..`. */
  readonly at: string;
  readonly writable: boolean;
  /** Part of the system image: always read-only, owners as they are. Otherwise granted. */
  readonly system: boolean;
  /** What has to lie there in an outer mount. Otherwise nothing runs. */
  readonly covers?: Identity | undefined;
}

/** All have to be said; there is no "unlimited". */
export interface Limits {
  readonly memoryBytes: number;
  readonly cpuMs: number;
  readonly processes: number;
  readonly fileBytes: number;
  readonly tmpBytes: number;
  readonly shmBytes: number;
  readonly openFiles: number;
}

export interface World {
  readonly mounts: readonly Mount[];
  /** Symbolic links: where, and what they say. */
  readonly links: Readonly<Record<string, string>>;
  /** Small read-only files: where, and their text. */
  readonly files: Readonly<Record<string, string>>;
  /** Path inside, and what must be there if that is known. */
  readonly program: string;
  readonly is?: Identity & { readonly size: bigint; readonly mtimeNs: bigint };
  /** With the program's own name in front. */
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly limits: Limits;
  /** Whether stdin is carried; otherwise it is /dev/null. */
  readonly input: boolean;
  /** Whether the job lasts until its last process ends, and not only until its first does. */
  readonly linger: boolean;
  /** Whether the program gets one end of an IPC channel, as descriptor 3. */
  readonly channel: boolean;
}

/** `descriptors[i]` is the number under which mount i reaches the sandbox program; `channel`, `cgroup`: theirs, if there are any. */
export function specOf(
  world: World,
  descriptors: readonly number[],
  { channel, cgroup }: { channel?: number | undefined; cgroup?: number | undefined },
): Buffer {
  const fields: (string | number | bigint)[] = ['hob-sandbox/1'];
  for (const [i, mount] of world.mounts.entries()) {
    const { dev, ino, writable, system, at, covers } = mount;
    const fd = descriptors[i];
    if (fd === undefined) throw new CapError('invalid', 'a mount has no descriptor');
    fields.push('mount', fd, dev, ino, writable ? 'rw' : 'ro', system ? 'system' : 'granted', at);
    if (covers !== undefined) fields.push('covers', covers.dev, covers.ino);
  }
  for (const [at, target] of Object.entries(world.links)) fields.push('link', at, target);
  for (const [at, text] of Object.entries(world.files)) fields.push('file', at, text);
  const { memoryBytes, cpuMs, processes, fileBytes, tmpBytes, shmBytes, openFiles } = world.limits;
  fields.push('limit', 'memory', memoryBytes, 'limit', 'cpu-ms', cpuMs, 'limit', 'processes', processes);
  fields.push('limit', 'file-bytes', fileBytes, 'limit', 'tmp-bytes', tmpBytes, 'limit', 'shm-bytes', shmBytes);
  fields.push('limit', 'open-files', openFiles, 'program', world.program, 'cwd', world.cwd);
  if (world.is) fields.push('is', world.is.dev, world.is.ino, world.is.size, world.is.mtimeNs);
  for (const arg of world.args) fields.push('arg', arg);
  for (const [name, value] of Object.entries(world.env)) fields.push('env', `${name}=${value}`);
  if (world.input) fields.push('input');
  if (world.linger) fields.push('linger');
  if (channel !== undefined) fields.push('channel', channel);
  if (cgroup !== undefined) fields.push('cgroup', cgroup);
  fields.push('end');
  const texts = fields.map(String);
  if (texts.some((text) => text.includes('\0'))) throw new CapError('invalid', 'a program is given text without NUL');
  return Buffer.from(`${texts.join('\0')}\0`);
}
