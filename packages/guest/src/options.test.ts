/** An option that nobody reads is refused: a misspelt limit would let a program run without it. */
import { test } from 'vitest';
import { expectRefused } from '../../../test/misspelt.ts';
import { guestsFor } from '../test/guests.ts';
import { loadActors, openGuests } from './index.ts';

test('an option of another name is refused everywhere, nothing runs, and the one that was meant is named', async () => {
  const guests = await guestsFor({ isolation: 'ses-only' });
  const limits = { cpu: 1 } as never;
  await expectRefused({
    openGuests: [() => openGuests({ isolaton: 'sandbox' } as never), 'isolaton', 'isolation'],
    'openGuests, limits': [() => openGuests({ isolation: 'ses-only', limits }), 'cpu', 'cpuMs'],
    evaluate: [() => guests.evaluate('return 1', { cap: {} } as never), 'cap', 'caps'],
    'evaluate, limits': [() => guests.evaluate('return 1', { caps: {}, limits }), 'cpu', 'cpuMs'],
    start: [() => guests.start('return 1', { caps: {}, signl: 1 } as never), 'signl', 'signal'],
    loadActors: [() => loadActors('', { power: {} } as never), 'power', 'powers'],
  });
});
