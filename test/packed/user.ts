/**
 * Runs a program as a new user does: an ordinary user with an empty home, plain Node, and a folder to work in.
 *
 * As root the user is one that this machine does not know.
 */
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import { delimiter, join } from 'node:path';
import { bareCommand } from './bare.ts';

/** The user, where the tests run as root. */
export const USER = 54_321;

/**
 * `machine`: the machine's programs, with compiler and Python if it has them. `node only`: PATH has Node and nothing else.
 * `nothing to build with`: the machine's programs, but no compiler, no Python and no checkout is on its disks (`bare.ts`).
 */
export type Path = 'machine' | 'node only' | 'nothing to build with';

export interface Said {
  readonly stdout: string;
  readonly stderr: string;
  /** The exit code, or the signal that ended it. */
  readonly end: number | string | null;
}

export interface NewUser {
  /** The empty home. */
  readonly home: string;
  /** Saves `program` in an empty folder below `folder` and runs it there. */
  /** `heard` gets all that it has printed so far, each time that it prints. */
  run(program: string, heard?: (stdout: string) => void): Promise<Said>;
}

let made = 0;

/** `folder` has `node_modules` and can be read by everyone. */
export function newUser(folder: string, path: Path): NewUser {
  made += 1;
  const own = (name: string): string => {
    const place = join(folder, `${name}-${made}`);
    fs.mkdirSync(place);
    if (process.getuid?.() === 0) fs.chownSync(place, USER, USER);
    return place;
  };
  const home = own('home');
  const tmp = own('tmp');
  const bin = nodeFolder(folder);
  const PATH = path === 'node only' ? bin : [bin, process.env['PATH']].join(delimiter);
  let programs = 0;
  return {
    home,
    async run(program, heard) {
      programs += 1;
      const cwd = own(`program-${programs}`);
      // The examples make their folders there, and this user's are removed with `folder`.
      fs.writeFileSync(join(cwd, 'try.ts'), program.replaceAll("'/tmp/", `'${tmp}/`));
      const node = [join(bin, 'node'), 'try.ts'] as const;
      const bare = path === 'nothing to build with';
      const [file, ...args] = bare ? bareCommand(node, { user: USER, scratch: join(folder, `bare-${made}`) }) : node;
      const child = spawn(file as string, args, {
        cwd,
        env: { PATH, HOME: home, TMPDIR: tmp },
        stdio: ['ignore', 'pipe', 'pipe'],
        // The bare command becomes the user by itself, when its mounts are made.
        ...(process.getuid?.() === 0 && !bare && { uid: USER, gid: USER }),
      });
      const said = { stdout: '', stderr: '' };
      for (const name of ['stdout', 'stderr'] as const)
        child[name].setEncoding('utf8').on('data', (text: string) => {
          said[name] += text;
          if (name === 'stdout') heard?.(said.stdout);
        });
      const end = await new Promise<number | string | null>((done, failed) => {
        child.once('error', failed);
        child.once('close', (code, signal) => done(code ?? signal));
      });
      return { ...said, end };
    },
  };
}

/** A folder with Node and nothing else, since Node may lie where other users cannot read. */
export function nodeFolder(folder: string): string {
  const bin = join(folder, 'node-only');
  if (!fs.existsSync(bin)) {
    fs.mkdirSync(bin);
    fs.copyFileSync(process.execPath, join(bin, 'node'), fs.constants.COPYFILE_FICLONE);
    fs.chmodSync(join(bin, 'node'), 0o755);
  }
  return bin;
}
