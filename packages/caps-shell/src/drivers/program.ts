/**
 * Finds the sandbox program: the one that was built for this platform and comes in a package of its own, or else the one
 * that a compiler built on this machine.
 *
 * Promise: a program is opened only if it has its checksum. That of the first is in this package, so a package of
 * another version, or a changed one, is refused. It is never passed over for the other one.
 */
import { hash } from 'node:crypto';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { CapError } from '@hob/vat';
import { unavailable } from '../errors.ts';

/** Where a compiler puts the program (`sandbox/build.mjs`), with a note of its checksum beside it. */
export const BUILT: string = fileURLToPath(new URL('../../build/hob-sandbox', import.meta.url));

/** The checksums of the programs in the packages, written by `npm run native -- --write`. */
const CHECKSUMS = new URL('../../sandbox/checksums.json', import.meta.url);

const platform = `${process.platform}-${process.arch}`;

/** The result of the first look-up. It is kept because a look-up takes 0.4 ms, and each job would make one. */
let found: { readonly file: string | undefined } | undefined;

/** The program in the package of this platform, if that is installed. */
function prebuilt(): string | undefined {
  found ??= { file: lookUp() };
  return found.file;
}

function lookUp(): string | undefined {
  try {
    return createRequire(import.meta.url).resolve(`@hob/sandbox-${platform}/hob-sandbox`);
  } catch {
    return undefined;
  }
}

/** The program to run on this machine. It need not be there. */
export const sandboxProgram = (): string => prebuilt() ?? BUILT;

/** Whether there is a program, so that none has to be built. */
export const isPrebuilt = (): boolean => prebuilt() !== undefined;

/** No part is as large. More is not read. */
const LARGEST = 16_777_216n;

const known = new Map<string, string>();

/** Opens the program. Compares its checksum if the file has changed since the last time. */
export function openProgram(file: string): number {
  let fd: number;
  try {
    // A FIFO that somebody put there must not hold the process up.
    fd = fs.openSync(file, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK);
  } catch (error) {
    throw unavailable('helper', String((error as NodeJS.ErrnoException).code));
  }
  try {
    const stat = fs.fstatSync(fd, { bigint: true });
    const { dev, ino, size, mtimeNs, ctimeNs } = stat;
    if (!stat.isFile() || size > LARGEST) throw unavailable('helper', 'ESTALE');
    const stamp = `${dev}:${ino}:${size}:${mtimeNs}:${ctimeNs}`;
    if (known.get(file) !== stamp) {
      if (hash('sha256', fs.readFileSync(fd), 'hex') !== checksumOf(file)) throw unavailable('helper', 'ESTALE');
      known.set(file, stamp);
    }
    return fd;
  } catch (error) {
    fs.closeSync(fd);
    throw error instanceof CapError ? error : unavailable('helper', 'ESTALE');
  }
}

function checksumOf(file: string): unknown {
  if (file !== prebuilt()) return (JSON.parse(fs.readFileSync(`${file}.json`, 'utf8')) as { binary?: unknown }).binary;
  const { files } = JSON.parse(fs.readFileSync(CHECKSUMS, 'utf8')) as { files: Readonly<Record<string, string>> };
  return files[platform];
}
