/**
 * Opens a link in the person's browser.
 *
 * Promise: the link is in no command line, which other users of the machine could read. It is in a file for its owner
 * alone, which leads the browser on, and only the name of that file is an argument.
 */
import { spawn } from 'node:child_process';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const NAME = 'console.html';

/** Writes the file into `folder`, which is its owner's alone. Returns its path. */
export function writeWay(folder: string, link: string): string {
  const path = join(folder, NAME);
  const made = `${path}.${process.pid}`;
  rmSync(made, { force: true });
  // The link has letters, digits and the signs of an address.
  const text = `<!doctype html><meta charset="utf-8"><title>Hob</title><meta http-equiv="refresh" content="0;url=${link}">\n`;
  writeFileSync(made, text, { mode: 0o600, flag: 'wx' });
  renameSync(made, path);
  return path;
}

/** The system's program that opens a file. Undefined where nobody sits at a screen. */
export function opener(
  platform: NodeJS.Platform = process.platform,
  env: NodeJS.ProcessEnv = process.env,
): string | undefined {
  if (platform === 'darwin') return 'open';
  return env['DISPLAY'] || env['WAYLAND_DISPLAY'] ? 'xdg-open' : undefined;
}

/** Resolves with whether the program began. Some of them run as long as the browser, so nobody waits for their end. */
export const openFile = (program: string, path: string): Promise<boolean> =>
  new Promise((done) => {
    const child = spawn(program, [path], { stdio: 'ignore', detached: true });
    child.once('error', () => done(false));
    child.once('spawn', () => {
      child.unref();
      done(true);
    });
  });
