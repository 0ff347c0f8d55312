/** The script of a guest hardens the intrinsics before our modules run. `test/packed-cli.test.ts` tests a tarball. */
import { expect, test } from 'vitest';
import { modulesOf } from '../test/modules.ts';
import { childCode } from './drivers/child-code.ts';

test('every module of the script but ses and the lockdown finds hardened intrinsics', async () => {
  const modules = await modulesOf(childCode());
  expect(modules.length).toBeGreaterThan(50);
  const before = modules.filter(({ isHardened }) => !isHardened).map(({ name }) => name);
  expect(before).toEqual(['ses.cjs', 'child-lockdown.ts']);
  expect(modules.map(({ name }) => name).slice(0, 2)).toEqual(before);
});
