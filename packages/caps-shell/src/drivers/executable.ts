/**
 * One program of this machine, held.
 *
 * Promise: it is the file that was there when the cap was made. Its number stays taken while the descriptor is open, so nothing that
 * is put in its place can pass for it; and what is changed in place has another size or time of change.
 */
import fs from 'node:fs';
import { basename } from 'node:path';
import { CapError } from '@hob/vat';
import type { Mount, World } from '../world.ts';

export interface Executable {
  /** Path inside. */
  readonly program: string;
  /** What it is called. */
  readonly name: string;
  readonly is: NonNullable<World['is']>;
  /** What has to be mounted for it, besides the system image. */
  readonly mounts: readonly Mount[];
  /** Whether it is, as far as can be seen from here, what it was. */
  isSame(): boolean;
  close(): void;
}

const O_PATH = 0o10000000;

/** Whoever forgets to close it. */
const forgotten = new FinalizationRegistry<() => void>((close) => close());

/** Errors: `E_EXEC_NOT_FOUND`; `unavailable` where the machine could not tell whether it is there. */
export function openExecutable(path: string): Executable {
  let fd: number;
  let real: string;
  try {
    real = fs.realpathSync(path);
    fd = fs.openSync(real, O_PATH);
  } catch (error) {
    if (!/^(?:ENOENT|ENOTDIR|ELOOP|ENAMETOOLONG|EACCES)$/.test(String((error as NodeJS.ErrnoException).code)))
      throw new CapError(
        'unavailable',
        'this program cannot be looked at now: look at the disk, and at the open files',
      );
    throw new CapError('E_EXEC_NOT_FOUND', 'there is no such program on this machine');
  }
  const { dev, ino, size, mtimeNs, mode } = fs.fstatSync(fd, { bigint: true });
  if ((mode & 0o170000n) !== 0o100000n || (mode & 0o111n) === 0n) {
    fs.closeSync(fd);
    throw new CapError('E_EXEC_NOT_FOUND', 'this is no program: it has to be an executable file');
  }
  const name = basename(path);
  // What is in the system image is run where it is, for it looks for what belongs to it beside itself.
  const inImage = /^\/(?:usr|bin|sbin|lib|lib32|lib64|libx32)\//.test(real);
  const at = `/opt/hob/command/${name}`;
  let open = true;
  const close = (): void => {
    if (open) fs.closeSync(fd);
    open = false;
  };
  const made: Executable = Object.freeze({
    program: inImage ? real : at,
    name,
    is: Object.freeze({ dev, ino, size, mtimeNs }),
    mounts: inImage ? [] : [Object.freeze({ fd, dev, ino, at, writable: false, system: true })],
    isSame: () => {
      const now = fs.fstatSync(fd, { bigint: true });
      return now.nlink > 0n && now.size === size && now.mtimeNs === mtimeNs;
    },
    close: () => {
      forgotten.unregister(made);
      close();
    },
  });
  forgotten.register(made, close, made);
  return made;
}
