/**
 * `kill -9` in the middle of writing, with a reader at work all the while.
 *
 * Promise: any content that no write ever gave counts as partial: too short, or of two writes.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { openFsCap } from '../src/index.ts';
import type { Backend } from '../test/backends.ts';

export interface Killed {
  readonly kills: number;
  readonly reads: number;
  /** Names whose file was found in part, by a reader or after the kill. */
  readonly partial: readonly string[];
  /** Unfinished files that the kills left: nobody can name them or sees them. */
  readonly strays: number;
  /** How many of these a listing showed. */
  readonly listed: number;
}

const size = 512 * 1024;
const names = ['written', 'streamed', 'copied', 'new', 'edited'] as const;

/** On the disk, not in memory: there a write takes long enough to be met. */
export async function killWrites(backend: Backend, kills: number): Promise<Killed> {
  const root = fs.mkdtempSync(path.join(os.tmpdir(), 'caps-fs-kill-'));
  const cap = await openFsCap(root, { backend });
  const partial: string[] = [];
  let reads = 0;
  let listed = 0;
  const look = async (): Promise<void> => {
    for (const name of names) {
      let content: string;
      try {
        content = await cap.readText(name);
      } catch (error) {
        // Between its removal and its next making. `STALE` and the like would be faults.
        if ((error as { code?: string }).code === 'NOT_FOUND') continue;
        throw error;
      }
      reads += 1;
      if (!(name === 'edited' ? isEdit(content) : isWhole(content))) partial.push(`${name}: ${content.length} bytes`);
    }
  };
  try {
    for (const name of ['written', 'streamed', 'new', 'copied']) await cap.write(name, 'z'.repeat(size));
    await cap.write('edited', '0\n'.repeat(1_000));
    for (let kill = 0; kill < kills; kill++) {
      const child = fork(path.join(import.meta.dirname, 'kill-child.ts'), [root, backend, String(kill)], {
        // It needs none of the caller's hooks, and a flag without its value would take the file's place.
        execArgv: [],
      });
      const exit = once(child, 'exit');
      await once(child, 'message');
      // A moment that is another one in each round, within what one round of the child takes.
      const end = performance.now() + 10 + ((kill * 37) % 120);
      while (performance.now() < end) await look();
      child.kill('SIGKILL');
      await exit;
      await look();
      listed += (await cap.list()).filter((name) => !(names as readonly string[]).includes(name)).length;
    }
    const strays = fs.readdirSync(root).length - (await cap.list()).length;
    return { kills, reads, partial, strays, listed };
  } finally {
    await cap.close();
    fs.rmSync(root, { recursive: true, force: true });
  }
}

function isWhole(content: string): boolean {
  return content.length === size && content === content.charAt(0).repeat(size);
}

function isEdit(content: string): boolean {
  return content === `${content.slice(0, content.indexOf('\n') + 1)}`.repeat(1_000);
}
