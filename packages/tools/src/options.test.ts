/** An option that nobody reads is refused, and the one that was meant is named. */
import { expect, test } from 'vitest';
import { expectRefused } from '../../../test/misspelt.ts';
import { of, verb } from './index.ts';

const session = { caps: () => [], cap: () => undefined };

test('an option of another name is refused everywhere, and the one that was meant is named', async () => {
  const tools = await of(session);
  await expectRefused({
    of: [() => of(session, {}, { canRequests: false } as never), 'canRequests', 'canRequest'],
    verb: [() => verb({ name: 'ring', description: '', optionl: [] } as never), 'optionl', 'optional'],
    describe: [() => tools.describe({ lose: true } as never), 'lose', 'loose'],
  });
  // A call never rejects.
  expect(await tools.call('read', {}, { signl: 1 } as never)).toMatchObject({ isError: true, code: 'invalid' });
});
