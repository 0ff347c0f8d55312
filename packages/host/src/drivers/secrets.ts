/**
 * How a secret is handed from one program to another.
 *
 * Promise: never in an environment or a command line, which every program of the same user can read in /proc as long as the process runs, and never
 * through a pipe that nobody asked for: by a file that only its owner may read, by a descriptor, or from a person at a terminal.
 */
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { CapError } from '@hob/vat';
import { askSecret } from './ask.ts';
import { say } from './terminal.ts';

/** What a host makes when it starts; a secret is there only where it is new. */
export interface Secrets {
  readonly session: { readonly id: string | undefined; readonly ended?: true; readonly secret: string | undefined };
  readonly granter: { readonly name: string; readonly secret: string | undefined };
}

export interface Files {
  readonly session: string;
  readonly granter: string;
}

/** Where new secrets go. Exactly one of its methods is called, once. */
export interface Outlet {
  /** The files that they went to; undefined where there are none. */
  write(secrets: Secrets): Files | undefined;
  /** Nothing was made. */
  abandon(): void;
}

/** The folder that `--secrets-to` names; undefined where it names a descriptor. */
export const folderOf = (target: string): string | undefined =>
  target.startsWith('fd:') ? undefined : resolve(target);

/**
 * `DIR`: two files, `session` and `granter`, each with its secret. `fd:N`: a line of JSON to that descriptor, which is closed then.
 * Errors: `invalid`, before any secret is made: a file of that name is there already, or no such descriptor.
 */
export function openOutlet(target: string): Outlet {
  const folder = folderOf(target);
  return folder === undefined ? descriptorOutlet(target.slice('fd:'.length)) : folderOutlet(folder);
}

function descriptorOutlet(text: string): Outlet {
  const descriptor = /^\d{1,6}$/.test(text) ? Number(text) : -1;
  const wrong = new CapError(
    'invalid',
    '--secrets-to fd:N names a descriptor from 3 on that whoever starts the host has opened',
  );
  // The channel to `scripts/hob.mjs` was opened by nobody for this: a host that npm started has no other.
  const channel = process.channel as { readonly fd?: number } | null | undefined;
  if (descriptor < 3 || descriptor === channel?.fd) throw wrong;
  try {
    fstatSync(descriptor);
  } catch {
    throw wrong;
  }
  return {
    write(secrets) {
      writeSync(descriptor, `${JSON.stringify(secrets)}\n`);
      closeSync(descriptor);
      return undefined;
    },
    abandon: () => closeSync(descriptor),
  };
}

function folderOutlet(folder: string): Outlet {
  makeFolder(folder);
  const files = { session: join(folder, 'session'), granter: join(folder, 'granter') };
  const session = newFile(files.session);
  let granter: number;
  try {
    granter = newFile(files.granter);
  } catch (error) {
    closeSync(session);
    unlinkSync(files.session);
    throw error;
  }
  const end = (file: string, descriptor: number, secret: string | undefined): void => {
    if (secret !== undefined) writeSync(descriptor, `${secret}\n`);
    fsyncSync(descriptor);
    closeSync(descriptor);
    if (secret === undefined) unlinkSync(file);
  };
  return {
    write(secrets) {
      end(files.session, session, secrets.session.secret);
      end(files.granter, granter, secrets.granter.secret);
      return files;
    },
    abandon() {
      end(files.session, session, undefined);
      end(files.granter, granter, undefined);
    },
  };
}

function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch {
    throw new CapError('invalid', 'the folder for the secrets cannot be made: name one in a folder that you may write');
  }
}

/** Never one that is there: it may hold a secret, be a link, or be read by others. */
function newFile(file: string): number {
  try {
    return openSync(file, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, 0o600);
  } catch (error) {
    throw new CapError(
      'invalid',
      (error as NodeJS.ErrnoException).code === 'EEXIST'
        ? 'a file for a secret is there already: take what is in it and remove it, or name another'
        : 'the file for a secret cannot be made: name one in a folder that you may write',
    );
  }
}

/** A new file that only its owner may read. Called before the secret is made, so that none is lost. Errors: `invalid`. */
export function openSecretFile(file: string): { write(secret: string): void; abandon(): void } {
  const descriptor = newFile(file);
  return {
    write(secret) {
      writeSync(descriptor, `${secret}\n`);
      fsyncSync(descriptor);
      closeSync(descriptor);
    },
    abandon() {
      closeSync(descriptor);
      unlinkSync(file);
    },
  };
}

/**
 * The secret in a file, which is gone afterwards. Errors: `invalid`, also where others than its owner may read it: then it is no secret any more, and
 * is left for a person to see.
 */
export function takeSecret(file: string): string {
  let descriptor: number;
  try {
    descriptor = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    throw new CapError(
      'invalid',
      'HOB_SECRET_FILE names no file that can be read: it is removed when it was read once',
    );
  }
  try {
    const { mode, uid, size } = fstatSync(descriptor);
    const isOurs = process.getuid === undefined || uid === process.getuid();
    if ((mode & constants.S_IFMT) !== constants.S_IFREG || !isOurs || (mode & 0o077) !== 0 || size > mostBytes)
      throw new CapError('invalid', 'the file of HOB_SECRET_FILE has to be your own, and for you alone: chmod 600');
    const secret = readFileSync(descriptor, 'utf8').trim();
    rmSync(file, { force: true });
    if (secret === '') throw new CapError('invalid', 'the file of HOB_SECRET_FILE is empty');
    return secret;
  } finally {
    closeSync(descriptor);
  }
}

const mostBytes = 4096;

/**
 * The secret that a program of an agent enters with: from the file that `HOB_SECRET_FILE` names, else from `HOB_SECRET`, which older programs set and
 * which stays in /proc, else from the terminal, or the first line of standard input. Neither name is in the environment afterwards.
 */
export async function secretOfAgent(): Promise<string> {
  const { HOB_SECRET_FILE: file, HOB_SECRET: old } = process.env;
  delete process.env['HOB_SECRET_FILE'];
  delete process.env['HOB_SECRET'];
  if (file !== undefined) return takeSecret(resolve(file));
  if (old === undefined) return askSecret('The session’s secret (npm start shows it): ');
  say('hob agent: HOB_SECRET can be read in /proc by other programs: use HOB_SECRET_FILE, or be asked');
  return old;
}
