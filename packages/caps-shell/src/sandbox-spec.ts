/**
 * The description of a job's world for the sandbox program. sandbox/PROTOCOL.md has its format.
 *
 * `encodeSpec` writes each value as one field that ends in NUL. A value with a NUL is refused. Every other
 * value arrives as it is, so nothing is quoted.
 */
import { CapError } from '@hob/vat';
import type { Listener } from './door/drivers/listeners.ts';

/** A file or directory by its identity, not by its name. */
export interface Identity {
  readonly dev: bigint;
  readonly ino: bigint;
}

/** A mount, made from a descriptor that is open while the job starts. */
export interface Mount extends Identity {
  readonly fd: number;
  /** The path inside: absolute, without `.` and `..`. */
  readonly at: string;
  readonly writable: boolean;
  /** Part of the system image: always read-only, owners unchanged. Otherwise it is granted. */
  readonly system: boolean;
  /** The directory that must be there in an outer mount. If another one is, nothing runs. */
  readonly covers?: Identity | undefined;
}

/** Every limit is required; there is no "unlimited". */
export interface SandboxLimits {
  readonly memoryBytes: number;
  readonly cpuMs: number;
  readonly processes: number;
  readonly fileBytes: number;
  readonly tmpBytes: number;
  readonly shmBytes: number;
  readonly openFiles: number;
}

export interface SandboxSpec {
  readonly mounts: readonly Mount[];
  /** Symbolic links: path and target. */
  readonly links: Readonly<Record<string, string>>;
  /** Small read-only files: path and content. */
  readonly files: Readonly<Record<string, string>>;
  /** The path inside, and the identity of the file there if it is known. */
  readonly program: string;
  readonly is?: Identity & { readonly size: bigint; readonly mtimeNs: bigint };
  /** With the program's own name in front. */
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly limits: SandboxLimits;
  /** Whether stdin is carried; otherwise it is /dev/null. */
  readonly input: boolean;
  /** Whether the job lasts until its last process ends, and not only until its first does. */
  readonly linger: boolean;
  /** Listeners in the world that this process serves: a port on 127.0.0.1, or the path of a Unix socket. */
  readonly listen?: readonly Listener[] | undefined;
  /** Whether the program gets one end of an IPC channel, as descriptor 3. */
  readonly channel: boolean;
}

/**
 * `descriptors[i]` is the descriptor of mount i in the sandbox program; `channel`, `door` and `cgroup` are
 * theirs, if any.
 */
export function encodeSpec(
  world: SandboxSpec,
  descriptors: readonly number[],
  { channel, door, cgroup }: Readonly<Partial<Record<'channel' | 'door' | 'cgroup', number | undefined>>>,
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
  if (door !== undefined) fields.push('door', door);
  for (const { at } of world.listen ?? []) fields.push('listen', typeof at === 'number' ? 'tcp' : 'unix', at);
  if (cgroup !== undefined) fields.push('cgroup', cgroup);
  fields.push('end');
  const texts = fields.map(String);
  if (texts.some((text) => text.includes('\0')))
    throw new CapError('invalid', 'arguments, variables and paths contain no NUL');
  return Buffer.from(`${texts.join('\0')}\0`);
}
