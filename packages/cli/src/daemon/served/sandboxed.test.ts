/** A manifest with programs on a machine that cannot confine them. `test/packed-cli.test.ts` plays a real one. */
import { check } from '@hob/manifest';
import { expect, test } from 'vitest';
import { checkSandbox } from './sandboxed.ts';

const layer = { name: 'users', ok: false, errno: 'EPERM', remedy: 'allow user namespaces' };
const broken = async () => ({ ok: false, layers: [layer] });
const planOf = (cap: string) => {
  const text = `version: 1\nroots: { project: . }\nsession: { caps: { src: { fs: project, can: [read, list] }, tool: ${cap} } }\n`;
  const { plan, mistakes } = check([{ layer: 'user', file: 'hob.yaml', text }], { now: 0 });
  if (plan === undefined) throw new Error(JSON.stringify(mistakes));
  return plan;
};

test('a command or a shell is refused at the start where no sandbox can be built, with its name and the remedy', async () => {
  for (const cap of ['{ command: git, argv: [[log]] }', '{ shell: sandbox, mounts: [src] }'])
    await expect(checkSandbox(planOf(cap), broken)).rejects.toMatchObject({ code: 'unavailable', message: expect.stringMatching(/^the cap tool needs a sandbox.*users: EPERM.*allow user namespaces/) }); // biome-ignore format: one line
});

test('a manifest without programs needs no sandbox', async () => {
  const asked = checkSandbox(planOf('{ fs: project, can: [list] }'), () => Promise.reject(new Error('nobody asks')));
  expect(await asked).toBe(undefined);
});
