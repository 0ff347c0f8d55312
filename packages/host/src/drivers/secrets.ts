/**
 * Hands a secret from one program to another.
 *
 * Promise: a secret is never in an environment or a command line, where each program of the same user can
 * read it in /proc. It is never written to a pipe that nobody asked for. It goes through a file that only
 * its owner may read, through a descriptor, or to a person at a terminal.
 */
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  openSync,
  readFileSync,
  rmSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { CapError } from '@hob/vat';
import { askSecret } from './prompt.ts';
import { makeFolder as makePrivateFolder } from './state-dir.ts';
import { say } from './terminal.ts';

/** The secrets of a start. A secret is present only if it is new. */
export interface Secrets {
  readonly session: { readonly id: string | undefined; readonly ended?: true; readonly secret: string | undefined };
  readonly granter: { readonly name: string; readonly secret: string | undefined };
}

export interface SecretFiles {
  readonly session: string;
  readonly granter: string;
}

/** Where new secrets go. Exactly one method is called, once. */
export interface SecretsOutput {
  /** The files that they went to; undefined where there are none. */
  write(secrets: Secrets): SecretFiles | undefined;
  /** Nothing was made. */
  abandon(): void;
}

/** The folder that `--secrets-to` names; undefined where it names a descriptor. */
export const folderOf = (target: string): string | undefined =>
  target.startsWith('fd:') ? undefined : resolve(target);

/**
 * `DIR`: two files, `session` and `granter`, each with its secret. `fd:N`: a line of JSON to that
 * descriptor, which is then closed. Errors: `invalid` before any secret is made, if a file exists already
 * or there is no such descriptor.
 */
export function openSecretsOutput(target: string): SecretsOutput {
  const folder = folderOf(target);
  return folder === undefined ? descriptorOutput(target.slice('fd:'.length)) : folderOutput(folder);
}

function descriptorOutput(text: string): SecretsOutput {
  const descriptor = /^\d{1,6}$/.test(text) ? Number(text) : -1;
  const wrong = new CapError('invalid', '--secrets-to fd:N names a descriptor, 3 or more, that the caller has opened');
  // The channel to `scripts/hob.mjs` was not opened for secrets.
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

function folderOutput(folder: string): SecretsOutput {
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
    makePrivateFolder(folder);
  } catch {
    throw new CapError('invalid', 'the folder for the secrets cannot be made: name one in a folder that you may write');
  }
}

/** Never an existing file: it may hold a secret, be a link, or be readable by others. */
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

/**
 * A new file that only its owner may read. Called before the secret is made, so that none is lost. Errors:
 * `invalid`.
 */
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
 * Returns the secret in a file and removes the file. Errors: `invalid`, also if others may read the file.
 * Then it is no secret any more, and the file stays for a person to see.
 */
function takeSecret(file: string): string {
  let descriptor: number;
  try {
    descriptor = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    throw new CapError(
      'invalid',
      'the file of HOB_SECRET_FILE cannot be read: it can be read once, and is removed then',
    );
  }
  try {
    const { mode, uid, size } = fstatSync(descriptor);
    const isOurs = process.getuid === undefined || uid === process.getuid();
    if ((mode & constants.S_IFMT) !== constants.S_IFREG || !isOurs || (mode & 0o077) !== 0 || size > mostBytes)
      throw new CapError(
        'invalid',
        'the file of HOB_SECRET_FILE must belong to you, and nobody else may read it: chmod 600',
      );
    const secret = readFileSync(descriptor, 'utf8').trim();
    remove(file);
    if (secret === '') throw new CapError('invalid', 'the file of HOB_SECRET_FILE is empty');
    return secret;
  } finally {
    closeSync(descriptor);
  }
}

/** A secret that stays in a file is read again by somebody. Errors: `invalid`. */
function remove(file: string): void {
  try {
    rmSync(file, { force: true });
  } catch {
    throw new CapError(
      'invalid',
      'the file of HOB_SECRET_FILE cannot be removed: put it in a folder that you may write',
    );
  }
}

const mostBytes = 4096;

/**
 * Returns the secret of an agent's program: from the file in `HOB_SECRET_FILE`, from `HOB_SECRET` of older
 * programs, which stays in /proc, or from the terminal or standard input. Neither variable is in the
 * environment afterwards.
 */
export async function secretOfAgent(): Promise<string> {
  const { HOB_SECRET_FILE: file, HOB_SECRET: old } = process.env;
  delete process.env['HOB_SECRET_FILE'];
  delete process.env['HOB_SECRET'];
  if (file !== undefined) return takeSecret(resolve(file));
  if (old === undefined) return askSecret('The session’s secret (its host showed it once): ');
  say('hob agent: HOB_SECRET can be read in /proc by other programs: use HOB_SECRET_FILE, or be asked');
  return old;
}
