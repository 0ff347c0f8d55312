/**
 * Runs jobs in a process of its own: as this user, or as a user without rights.
 *
 * The process has a session keyring with a canary in it and, as root, one group more than it needs.
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { CapError } from '@hob/vat';
import type { Options, Outcome } from './world.ts';

export const USER = 54_321;

export interface Starter {
  readonly name: 'root' | 'user';
  run(text: string, options?: Options): Promise<Outcome>;
  close(): Promise<void>;
}

interface Answer {
  readonly id: number;
  readonly outcome?: Outcome;
  readonly code: string;
  readonly message: string;
}

/** `user`: never root. `tool`: see builds.ts. */
export async function starter(name: 'root' | 'user', tool: string): Promise<Starter> {
  const ids = name === 'user' && process.getuid?.() === 0 ? { uid: USER, gid: USER } : {};
  const child = spawn(tool, ['within', process.execPath, '--no-warnings', join(import.meta.dirname, 'driver.ts')], {
    ...ids,
    cwd: '/',
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    serialization: 'advanced',
  });
  const waiting = new Map<number, (answer: Answer) => void>();
  let next = 0;
  const answerTo = (id: number): Promise<Answer> => new Promise((done) => waiting.set(id, done));
  child.on('message', (answer: Answer) => {
    waiting.get(answer.id)?.(answer);
    waiting.delete(answer.id);
  });
  const gone = new Promise<void>((done) =>
    child.once('exit', () => {
      for (const done of waiting.values()) done({ id: 0, code: 'gone', message: 'the starter is gone' });
      done();
    }),
  );
  const { code } = await answerTo(0);
  if (code === 'gone') throw new Error(`no process as ${name}`);
  return {
    name,
    run: async (text, options = {}) => {
      if (!child.connected) throw new Error('the starter is gone');
      next += 1;
      const answer = answerTo(next);
      child.send({ id: next, text, options });
      const { outcome, code, message } = await answer;
      if (outcome === undefined) throw new CapError(code, message);
      return outcome;
    },
    close: () => {
      if (child.connected) child.disconnect();
      return gone;
    },
  };
}
