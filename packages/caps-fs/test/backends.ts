/** Which resolvers this machine has; a test of one that is missing is skipped with the reason. */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { openFsCap } from '../src/index.ts';

export type Backend = 'proc' | 'native';
export const backends: readonly Backend[] = ['proc', 'native'];

/** Why this machine lacks it; undefined when it has it. */
export async function lacks(backend: Backend): Promise<string | undefined> {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'caps-fs-'));
  try {
    await (await openFsCap(dir, { backend })).close();
    return undefined;
  } catch (error) {
    return `needs the backend ${backend}: ${(error as Error).message}`;
  } finally {
    fs.rmdirSync(dir);
  }
}
