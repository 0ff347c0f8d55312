/** The programs of the README files, run as a reader does: copied into an empty folder, from an empty home; and once more. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished } from 'vitest';
import { requires } from './needs.ts';
import { programs } from './readme-programs.ts';
import { ROOT } from './sources.ts';

for (const { page, n, program } of programs)
  requires('linux', ...(/caps-shell|guest/.test(program) ? (['cc', 'userns'] as const) : []))(
    `${page}: its example ${n + 1} runs a second time in the same folder`,
    async () => {
      const folder = mkdtempSync(join(tmpdir(), 'hob-readme-'));
      onTestFinished(() => rmSync(folder, { recursive: true }));
      writeFileSync(join(folder, 'try.ts'), program);
      const args = ['--import', join(ROOT, 'scripts', 'resolve.mjs'), 'try.ts'];
      const env = { PATH: process.env['PATH'], HOME: folder };
      const run = () => promisify(execFile)(process.execPath, args, { cwd: folder, env });
      const [first, second] = [await run(), await run()];
      const withoutPort = (text: string): string => text.replace(/:\d+/g, '');
      expect(withoutPort(second.stdout)).toBe(withoutPort(first.stdout));
      expect(second.stderr).toBe('');
    },
  );
