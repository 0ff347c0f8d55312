/**
 * A program that runs as its owner, in a directory that a job may write: the job would rewrite it through
 * memory, and the bit would stay.
 */
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openFsCap } from '@hob/caps-fs';
import { expect, onTestFinished } from 'vitest';
import { requires } from '../../../test/needs.ts';
import { builds } from '../test/builds.ts';
import { run } from '../test/world.ts';
import { makeCommandCap } from './command.ts';
import { makeShellCap } from './shell.ts';

const test = requires('linux', 'cc', 'userns');

function scene(mode: number): { folder: string; program: string; rewritten: () => boolean } {
  const folder = mkdtempSync(join(tmpdir(), 'hob-set-id-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  chmodSync(folder, 0o755);
  mkdirSync(join(folder, 'deep', 'er'), { recursive: true });
  const program = join(folder, 'deep', 'er', 'program');
  copyFileSync(builds().tool, program);
  chmodSync(program, mode);
  const rewritten = (): boolean => readFileSync(program).equals(readFileSync(builds().tool)) === false;
  return { folder, program, rewritten };
}

for (const [what, mode] of [
  ['its owner', 0o4755],
  ['its group', 0o2755],
] as const) {
  test(`a directory with a program in it that runs as ${what} is not granted for writing, and says which it is`, async () => {
    const { folder, program, rewritten } = scene(mode);
    const files = await openFsCap(folder);
    onTestFinished(() => files.close());
    const refusal = { code: 'E_NOT_MOUNTABLE', message: expect.stringContaining('/ws/deep/er/program') };
    await expect(makeShellCap({ mounts: { '/ws': files } })).rejects.toMatchObject(refusal);
    await expect(makeCommandCap('/bin/true', { mounts: { '/ws': files } })).rejects.toMatchObject(refusal);
    // The attack is real: in a mount that skips the check, the program is changed and keeps its bit.
    const attack = { grants: { '/ws': { path: folder } }, trees: { '/opt/tool': builds().tool } };
    expect(await run('/opt/tool rewrite /ws/deep/er/program', attack)).toMatchObject({ code: 0 });
    expect({ rewritten: rewritten(), mode: statSync(program).mode & 0o7777 }).toEqual({ rewritten: true, mode });
  });
}

test('a set-id program may be in a read-only directory, and an ordinary one in any', async () => {
  const { folder, program, rewritten } = scene(0o4755);
  const files = await openFsCap(folder);
  onTestFinished(() => files.close());
  const reader = await makeShellCap({ mounts: { '/ws': files.readOnly() } });
  const attack = `python3 -c 'import mmap, os; mmap.mmap(os.open("/ws/deep/er/program", os.O_RDWR), 0)[1] = 7' || echo x >> /ws/deep/er/program`;
  expect((await reader.run(attack)).status).not.toBe(0);
  await reader.close();
  expect({ rewritten: rewritten(), mode: statSync(program).mode & 0o7777 }).toEqual({ rewritten: false, mode: 0o4755 });
  chmodSync(program, 0o755);
  const writer = await makeShellCap({ mounts: { '/ws': files } });
  expect((await writer.run('chmod u+s /ws/deep/er/program')).status).not.toBe(0);
  await writer.close();
  expect(statSync(program).mode & 0o7777).toBe(0o755);
});
