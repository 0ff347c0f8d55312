/** No shell where programs cannot be confined. */
import { expect, test } from 'vitest';
import { code } from '../../test/test-host.ts';
import { requireSandbox } from './sandboxed.ts';

test('the error names the step of the sandbox that failed, and the remedy; optional steps do not count', async () => {
  const step = { name: 'user namespace', ok: false, errno: 'EPERM', remedy: 'allow them' };
  const platform = { name: 'platform', ok: true };
  const refused = requireSandbox('--code', async () => ({ ok: false, layers: [platform, step] }));
  expect(await code(refused)).toBe('unavailable');
  await expect(refused).rejects.toThrow(/^--code needs a sandbox.*user namespace: EPERM\): allow them/);
  await requireSandbox('--shell', async () => ({ ok: true, layers: [platform, { ...step, name: 'not needed' }] }));
});
