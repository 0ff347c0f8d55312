/**
 * Where this user's programs keep their state, by the XDG base directory specification: `$XDG_STATE_HOME`,
 * else `~/.local/state`. Only for entry points: a library is told where things are.
 */
import { accessSync, constants, existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';

/** The folder for sentinels; undefined where it cannot be written. */
export function sentinelHome(): string | undefined {
  // A relative path is to be ignored, says the specification.
  const given = process.env['XDG_STATE_HOME'] ?? '';
  const home = isAbsolute(given) ? given : homeState();
  if (home === undefined) return undefined;
  const folder = join(home, 'hob', 'sentinels');
  let nearest = folder;
  while (!existsSync(nearest)) nearest = dirname(nearest);
  try {
    accessSync(nearest, constants.W_OK | constants.X_OK);
    return folder;
  } catch {
    return undefined;
  }
}

function homeState(): string | undefined {
  try {
    // Without HOME it is what the system knows of the user.
    const home = homedir();
    return isAbsolute(home) ? join(home, '.local', 'state') : undefined;
  } catch {
    return undefined;
  }
}
