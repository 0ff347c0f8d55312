/** What `npm run pack` makes can be installed and run by somebody who has nothing of ours. */
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { blocks } from './readme.ts';
import { filesIn, ROOT } from './sources.ts';

const run = promisify(execFile);

test('the tarballs install in an empty folder and run there, mutants left out', async (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'hob-pack-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  // Not the caller's npm settings: this runs below `npm test`.
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(?:npm_|INIT_CWD|NODE_OPTIONS|VITEST)/.test(name)),
  );

  const packed = await run(process.execPath, [join(ROOT, 'scripts', 'pack.ts'), '--into', folder], { env });
  const tarballs = packed.stdout.trim().split('\n');
  const names = filesIn('packages').filter((file) => /^packages\/[^/]+\/src\/index\.ts$/.test(file));
  expect(tarballs).toHaveLength(names.length);

  // Overrides, too: a tarball's own dependency on another of ours would else be asked of the registry, by name.
  const own = Object.fromEntries(tarballs.map((file) => [nameIn(file), `file:${file}`]));
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({ private: true, type: 'module', dependencies: own, overrides: own }),
  );
  try {
    const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline', '--fetch-retries=0'];
    await run('npm', ['install', ...flags], { cwd: folder, env, timeout: 90_000, shell: process.platform === 'win32' });
  } catch (error) {
    const said = String((error as { stderr?: unknown }).stderr);
    if (/ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ECONNRESET|CERT/.test(said))
      context.skip('needs the package registry, for what Hob depends on');
    throw error;
  }

  const vat = join(folder, 'node_modules', '@hob', 'vat');
  const shipped = readdirSync(vat, { recursive: true }).map(String);
  expect(shipped.filter((file) => /\.test\.|(?<!\.d)\.ts$/.test(file))).toEqual([]);
  for (const file of shipped.filter((name) => name.endsWith('.js')))
    expect(readFileSync(join(vat, file), 'utf8'), file).not.toMatch(/\bmutant\b|HOB_MUTANT/);

  const programs = ["import * as vat from '@hob/vat';\nconsole.log(typeof vat.CapError);\n"];
  if (existsSync(join(ROOT, 'README.md')))
    programs.push(...blocks(readFileSync(join(ROOT, 'README.md'), 'utf8'), 'ts').slice(0, 1));
  for (const [index, program] of programs.entries()) {
    writeFileSync(join(folder, `program-${index}.ts`), program);
    const { stdout } = await run(process.execPath, [`program-${index}.ts`], { cwd: folder, env });
    if (index === 0) expect(stdout).toBe('function\n');
  }
});

/** `…/hob-vat-0.1.0.tgz` holds `@hob/vat`. */
function nameIn(tarball: string): string {
  return basename(tarball).replace(/^hob-(.*)-\d+\.\d+\.\d+.*\.tgz$/, '@hob/$1');
}
