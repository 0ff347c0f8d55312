/** Directories for tests: a root to be confined to, and beside it what must never be seen. */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { FsCap } from '../src/index.ts';
import { openFsCap } from '../src/index.ts';

export const SECRET = 'outside: nobody with the cap may read this';

export interface Scratch extends AsyncDisposable {
  readonly cap: FsCap;
  /** For the test's own hands: `at('a/b')` is a path of the host. */
  at(name: string): string;
  outside(name: string): string;
}

export async function scratch(limits: Readonly<Record<string, number>> = {}): Promise<Scratch> {
  const top = fs.mkdtempSync(path.join(os.tmpdir(), 'caps-fs-'));
  fs.mkdirSync(path.join(top, 'root'));
  fs.mkdirSync(path.join(top, 'outside'));
  fs.writeFileSync(path.join(top, 'outside', 'secret'), SECRET);
  const cap = await openFsCap(path.join(top, 'root'), { limits });
  return {
    cap,
    at: (name) => path.join(top, 'root', name),
    outside: (name) => path.join(top, 'outside', name),
    [Symbol.asyncDispose]: async () => {
      await cap.close();
      fs.rmSync(top, { recursive: true, force: true });
    },
  };
}

export function text(bytes: Uint8Array | undefined): string {
  return new TextDecoder().decode(bytes);
}

export function bytes(of: string): Uint8Array {
  return new TextEncoder().encode(of);
}

/** The code that a promise breaks with; `ok` if it does not. */
export async function code(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
    return 'ok';
  } catch (error) {
    return (error as { code?: string }).code ?? String(error);
  }
}

export function openDescriptors(): number {
  return fs.readdirSync('/proc/self/fd').length;
}

export function temporaries(dir: string): string[] {
  return fs.readdirSync(dir).filter((name) => name.startsWith('.~caps-'));
}
