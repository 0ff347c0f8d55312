/** Runs vitest as a child, for tests of the set-up files and of the reporter. */
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT: string = join(import.meta.dirname, '..');

export interface Outcome {
  code: number | null;
  /** Why each failed test failed, by its name. */
  failures: Record<string, string>;
  passed: number;
  failed: number;
  skips: { name: string; reason: string }[];
  output: string;
}

/** `what` is a file of `test/fixtures`, or test files as `npm test` runs them. */
export async function runVitest(what: string | readonly string[], env: Record<string, string> = {}): Promise<Outcome> {
  const folder = await mkdtemp(join(tmpdir(), 'hob-fixture-'));
  const report = join(folder, 'report.json');
  const fixture = ['--config', 'test/fixtures/vitest.config.ts', `test/fixtures/${what}`];
  const args = ['run', ...(typeof what === 'string' ? fixture : what)];
  const child = spawn(process.execPath, [join(ROOT, 'node_modules', 'vitest', 'vitest.mjs'), ...args], {
    cwd: ROOT,
    env: { ...process.env, HOB_REQUIRE: '', ...env, HOB_TEST_REPORT: report },
  });
  try {
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += text));
    const code = await new Promise<number | null>((done) => child.once('close', done));
    return { code, output, ...JSON.parse(await readFile(report, 'utf8')) };
  } finally {
    child.kill();
    await rm(folder, { recursive: true });
  }
}
