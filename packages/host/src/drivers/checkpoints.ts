/**
 * Sends signed checkpoints of the ledger to a place that this machine cannot change: the end of a file on
 * another machine, or a URL by HTTP POST.
 *
 * Promise: sending never stops or delays the host. A failure is reported, and the latest checkpoint is sent
 * again. It vouches for every line before it.
 */
import { closeSync, fstatSync, fsyncSync, openSync, readSync, writeSync } from 'node:fs';
import { resolve } from 'node:path';
import { CapError } from '@hob/vat';

/** Resolves after one try. */
type CheckpointSender = (checkpoint: string) => Promise<void>;

const firstRetryMs = 60_000;
const longestRetryMs = 3_600_000;
/** The time limit of one try. The close of a host waits for it. */
const attemptMs = 3_000;

export const isUrl = (where: string): boolean => /^https?:/i.test(where);

/** `where` is a URL or a file. `say` gets each failure, with nothing of the URL but its host. */
export function openCheckpointSender(
  where: string,
  say: (line: string) => void,
  { retryMs = firstRetryMs, end }: { readonly retryMs?: number; readonly end?: AbortSignal } = {},
): CheckpointSender {
  const [name, attempt] = isUrl(where) ? toUrl(where) : toFile(where);
  let waiting: string | undefined;
  let timer: NodeJS.Timeout | undefined;
  let delay = retryMs;

  const tryIt = async (): Promise<void> => {
    clearTimeout(timer);
    const checkpoint = waiting;
    if (checkpoint === undefined) return;
    const failure = await attempt(checkpoint);
    clearTimeout(timer);
    if (failure === undefined) {
      if (waiting === checkpoint) waiting = undefined;
      if (delay !== retryMs) say(`checkpoints of the ledger are sent to ${name} again`);
      delay = retryMs;
      return;
    }
    say(
      `a checkpoint of the ledger could not be sent to ${name} (${failure}): tried again in ${Math.ceil(delay / 1000)} s, and at the next start`,
    );
    // The timer keeps no process alive: the next start sends its last checkpoint first.
    if (end?.aborted !== true) timer = setTimeout(() => void tryIt(), delay).unref();
    delay = Math.min(2 * delay, longestRetryMs);
  };
  end?.addEventListener('abort', () => clearTimeout(timer));
  return (checkpoint) => {
    waiting = checkpoint;
    return tryIt();
  };
}

type Send = (checkpoint: string) => Promise<string | undefined>;

function toFile(where: string): readonly [name: string, attempt: Send] {
  const file = resolve(where);
  return [
    'their file',
    async (checkpoint) => {
      let descriptor: number | undefined;
      try {
        descriptor = openSync(file, 'a+', 0o600);
        // One write, so a kill leaves a whole line or a cut one. The next line starts after a cut one.
        writeSync(descriptor, `${endsLine(descriptor) ? '' : '\n'}${checkpoint}\n`);
        fsyncSync(descriptor);
        return undefined;
      } catch (error) {
        return (error as NodeJS.ErrnoException).code ?? 'it cannot be written';
      } finally {
        if (descriptor !== undefined) closeSync(descriptor);
      }
    },
  ];
}

function endsLine(descriptor: number): boolean {
  const { size } = fstatSync(descriptor);
  const last = Buffer.alloc(1);
  return size === 0 || (readSync(descriptor, last, 0, 1, size - 1) === 1 && last[0] === 10);
}

function toUrl(where: string): readonly [name: string, attempt: Send] {
  const url = URL.parse(where);
  if (url === null || url.username !== '' || url.password !== '')
    throw new CapError('invalid', '--checkpoints takes a file, or a URL without a user name: https://host/path');
  return [
    url.host,
    async (checkpoint) => {
      try {
        const answer = await fetch(url, {
          method: 'POST',
          headers: { 'content-type': 'text/plain; charset=utf-8' },
          body: checkpoint,
          redirect: 'manual',
          signal: AbortSignal.timeout(attemptMs),
        });
        await answer.body?.cancel();
        return answer.ok ? undefined : `HTTP ${answer.status}`;
      } catch (error) {
        const { name, cause } = error as Error;
        return name === 'TimeoutError'
          ? 'no answer'
          : String((cause as { code?: unknown } | undefined)?.code ?? 'no connection');
      }
    },
  ];
}
