/**
 * A mount of the host inside a granted directory hides the directory beneath it from a program too. As root
 * and as an ordinary user.
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { requires } from '../../../test/needs.ts';
import { starter, USER } from '../test/as.ts';
import { builds } from '../test/builds.ts';

const test = requires('linux', 'cc', 'userns', 'root', 'unprivileged');

const ATTACK = 'cat $(find /ws -name secret); echo x > /ws/in/new || echo x > /ws/deep/er/new';

/** `ws/in` holds a secret and is a mount point. */
function scene(owner: number, ...places: string[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'hob-covered-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  chmodSync(folder, 0o755);
  for (const path of ['ws', 'ws/in', 'ws/deep', 'ws/deep/er', 'beside', 'beside/in']) {
    mkdirSync(join(folder, path));
    chownSync(join(folder, path), owner, owner);
  }
  for (const place of places) {
    writeFileSync(join(folder, place, 'secret'), 'HOB-CANARY\n');
    mount('-t', 'tmpfs', 'none', join(folder, place));
    onTestFinished(() => {
      spawnSync('umount', ['-l', join(folder, place)]);
    });
  }
  return folder;
}

function mount(...args: string[]): void {
  const { status, stderr } = spawnSync('mount', args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`mount: ${stderr}`);
}

for (const name of ['root', 'user'] as const) {
  const run = async (path: string): Promise<string> => {
    const who = await starter(name, builds().tool);
    try {
      const { stdout } = await who.run(ATTACK, { grants: { '/ws': { path } } });
      return stdout;
    } catch (error) {
      return String((error as { code?: unknown }).code);
    } finally {
      await who.close();
    }
  };
  const owner = name === 'root' ? 0 : USER;

  test(`as ${name}: a directory in which the host mounted something is refused, and nothing beneath the mount is read or written`, async () => {
    const folder = scene(owner, 'ws/in');
    expect(await run(join(folder, 'ws'))).toBe('E_NOT_MOUNTABLE');
    spawnSync('umount', [join(folder, 'ws/in')]);
    expect(readdirSync(join(folder, 'ws/in'))).toEqual(['secret']);
  });

  test(`as ${name}: a directory with a mount deeper down, or one that cannot be cloned, is refused too`, async () => {
    const folder = scene(owner, 'ws/deep/er');
    expect(await run(join(folder, 'ws'))).toBe('E_NOT_MOUNTABLE');
    mount('--make-unbindable', join(folder, 'ws/deep/er'));
    expect(await run(join(folder, 'ws'))).toBe('E_NOT_MOUNTABLE');
  });

  test(`as ${name}: a mount beside the granted directory does not matter`, async () => {
    const folder = scene(owner, 'beside/in');
    expect(await run(join(folder, 'ws'))).toBe('');
    expect(existsSync(join(folder, 'ws/in/new'))).toBe(true);
  });
}
