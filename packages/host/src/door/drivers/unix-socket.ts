/**
 * The file of a Unix socket.
 *
 * Promise: only the user of the host can connect, and nobody else can put a socket of their own in its place: clients
 * send their secrets there. A socket that a host left behind is replaced. A socket that somebody listens on, and a
 * file that is no socket, stay as they are, also if two hosts start at once.
 */
import { type BigIntStats, linkSync, lstatSync, realpathSync, renameSync, statSync, unlinkSync } from 'node:fs';
import { connect, type Server } from 'node:net';
import { dirname } from 'node:path';
import { CapError } from '@hob/vat';

/** The file of a listening server. */
export interface SocketFile {
  /** Runs `close`, which closes the server. Keeps a file that somebody else has put at the path meanwhile. */
  closing(close: () => void): void;
}

const unavailable = (text: string): CapError => new CapError('unavailable', text);
const inUse = 'a process listens on this socket: end it, or choose another path';
const cannotBeMade = 'the socket cannot be made: check that its folder is there and may be written';

/** Binds `server` to the path. Errors: `unavailable`. */
export async function listenOn(server: Server, path: string): Promise<SocketFile> {
  try {
    checkFolder(path);
    await removeStale(path);
    await bind(server, path);
    const own = lstatSync(path, { bigint: true });
    return { closing: (close) => closeBeside(path, own, close) };
  } catch (error) {
    // An error of the file system names the path.
    throw error instanceof CapError ? error : unavailable(cannotBeMade);
  }
}

/** Whoever may write a folder may put another file in the place of the socket. */
function checkFolder(path: string): void {
  const me = process.geteuid?.();
  if (me === undefined) return;
  const folder = dirname(path);
  for (const one of [folder, realpathSync(folder)])
    for (const [up, each] of aboveOf(one).entries())
      if (mayBeWrittenByOthers(each, up === 0)) throw replaceable('is writable for them: chmod go-w it', up);
  const { uid } = statSync(folder);
  if (uid !== me && uid !== 0) throw replaceable('belongs to another user: chown it', 0);
}

function mayBeWrittenByOthers(folder: string, holdsSocket: boolean): boolean {
  const { mode, gid } = statSync(folder);
  // A group of one user is usual.
  const byGroup = (mode & 0o020) !== 0 && gid !== process.getegid?.() && gid !== 0;
  // In a sticky folder only the owner of a folder may replace it. A socket is gone when its host ends, and then anybody
  // could make one of that name there.
  const sticky = (mode & 0o1000) !== 0 && !holdsSocket;
  return !sticky && ((mode & 0o002) !== 0 || byGroup);
}

/** The error says how far above the socket the folder is, because it must name no path. */
function replaceable(why: string, up: number): CapError {
  const levels = up === 1 ? 'one level' : `${up} levels`;
  const which = up === 0 ? 'the folder of the socket' : `the folder ${levels} above the folder of the socket`;
  return unavailable(`other users may replace the socket, because ${which} ${why}, or choose another folder`);
}

/** A folder, and all that it lies in. */
const aboveOf = (folder: string): string[] =>
  dirname(folder) === folder ? [folder] : [folder, ...aboveOf(dirname(folder))];

async function removeStale(path: string): Promise<void> {
  const found = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  if (found === undefined) return;
  if (!found.isSocket())
    throw unavailable('there is another file at the path of the socket: move it, or choose another path');
  if (await isListening(path)) throw unavailable(inUse);
  // Another host may have replaced it meanwhile. So the file is moved first, and looked at.
  const aside = `${path}.${process.pid}`;
  try {
    renameSync(path, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  if (isSame(found, lstatSync(aside, { bigint: true }))) return unlinkSync(aside);
  putBack(aside, path);
  throw unavailable(inUse);
}

function putBack(aside: string, path: string): void {
  try {
    linkSync(aside, path);
  } finally {
    unlinkSync(aside);
  }
}

/** The number of a file is used again when the file is gone. Its time is then another one. */
const isSame = (one: BigIntStats, other: BigIntStats): boolean =>
  one.dev === other.dev && one.ino === other.ino && one.mtimeNs === other.mtimeNs;

const bind = (server: Server, path: string): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', ({ code }: NodeJS.ErrnoException) =>
      reject(unavailable(code === 'EADDRINUSE' ? inUse : cannotBeMade)),
    );
    // Between bind and chmod another user could connect. So the file gets its mode when it is made, which is
    // inside this call.
    const before = process.umask(0o177);
    try {
      server.listen(path, () => resolve());
    } finally {
      process.umask(before);
    }
  });

/** Closing a server removes the file at its path, whoever made it. */
function closeBeside(path: string, own: BigIntStats, close: () => void): void {
  const aside = `${path}.${process.pid}`;
  let foreign = false;
  try {
    foreign = !isSame(own, lstatSync(path, { bigint: true }));
    if (foreign) renameSync(path, aside);
  } catch {
    // There is no file, so none can be lost.
    foreign = false;
  }
  try {
    close();
  } finally {
    if (foreign) putBack(aside, path);
  }
}

/** Whether a process listens. */
const isListening = (path: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code !== 'ECONNREFUSED' && code !== 'ENOENT'));
  });
