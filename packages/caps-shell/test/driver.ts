/**
 * A process of some user that starts jobs for a test: `as.ts` talks to it. Or, to compare, the same under
 * plain bash.
 */
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { type Options, type Outcome, run } from './world.ts';

process.on('message', async ({ id, text, options }: { id: number; text: string; options: Options }) => {
  const answer = await (options.plain === undefined ? run(text, options) : plain(text, options.plain, options))
    .then((outcome) => ({ outcome: { ...outcome, left: endLeft(options) } }))
    .catch((error) => ({ code: String(error.code ?? 'error'), message: String(error.message) }));
  process.send?.({ id, ...answer });
});
process.on('disconnect', () => process.exit());
process.send?.({ id: 0 });

function plain(text: string, cwd: string, { env = {}, timeoutMs = 20_000 }: Options): Promise<Outcome> {
  // Its leftover processes may hold the pipes, so its exit counts as the end.
  const child = spawn('/bin/bash', ['-c', text], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (data) => {
    stdout += data;
  });
  child.stderr.on('data', (data) => {
    stderr += data;
  });
  const end = (): void => {
    try {
      process.kill(-(child.pid ?? 0), 'SIGKILL');
    } catch {
      // It is over.
    }
  };
  const timer = setTimeout(end, timeoutMs);
  return new Promise((done, fail) => {
    child.once('error', fail);
    child.once('exit', (code) => {
      clearTimeout(timer);
      setTimeout(() => {
        child.stdout.destroy();
        child.stderr.destroy();
        done({ how: 'exit', code: code ?? -1, wallUs: 0, cpuUs: 0, peakBytes: 0, processes: 0, stdout, stderr });
      }, 10);
    });
  });
}

/** Kills processes that have the mark and `-left` in their name. Returns whether there were any. */
function endLeft({ mark }: Options): boolean {
  if (mark === undefined) return false;
  let found = false;
  for (const pid of readdirSync('/proc')) {
    if (!/^\d+$/.test(pid)) continue;
    try {
      if (!readFileSync(`/proc/${pid}/cmdline`, 'latin1').startsWith(`${mark}-left`)) continue;
      process.kill(Number(pid), 'SIGKILL');
      found = true;
    } catch {
      // Gone, or another's.
    }
  }
  return found;
}
