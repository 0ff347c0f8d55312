/** No shell where programs cannot be confined. */
import { expect, test } from 'vitest';
import { code } from '../../test/house.ts';
import { requireSandbox } from './sandboxed.ts';

test('where a step of the sandbox fails it is named, with what helps; what is only not needed does not count', async () => {
  const step = { name: 'user namespace', ok: false, errno: 'EPERM', remedy: 'allow them' };
  const platform = { name: 'platform', ok: true };
  const refused = requireSandbox(async () => ({ ok: false, layers: [platform, step] }));
  expect(await code(refused)).toBe('unavailable');
  await expect(refused).rejects.toThrow(/user namespace: EPERM\): allow them/);
  await requireSandbox(async () => ({ ok: true, layers: [platform, { ...step, name: 'not needed' }] }));
});
