/** A term or an option that nobody reads is refused: a misspelt limit would be no limit. */
import { type Definition, define, E, openVats } from '@hob/vat';
import { expect, onTestFinished, test } from 'vitest';
import { expectRefused } from '../../../test/misspelt.ts';
import { approveFor, approveSession, checkTerms, forward, gated, grantOf, membrane, revocable } from './index.ts';

interface Bell {
  ring(): number;
}
const Bell: Definition<Bell, []> = define('Bell', () => ({ ring: () => 1 }));

test('a term or an option of another name is refused everywhere, and the one that was meant is named', async () => {
  const vats = await openVats();
  onTestFinished(() => vats.close());
  const vat = vats.vat('a');
  const bell = await vat.spawn(Bell());
  const terms = { use: 1 } as never;
  await expectRefused({
    checkTerms: [() => checkTerms(terms), 'use', 'uses'],
    revocable: [() => revocable(bell, terms), 'use', 'uses'],
    membrane: [() => membrane(bell, { untill: 1 } as never), 'untill', 'until'],
    'grantOf, terms': [() => vat.turn(() => void grantOf(bell, terms)), 'use', 'uses'],
    grantOf: [
      () => vat.turn(() => void grantOf(bell, {}, undefined, { otherwis: 1 } as never)),
      'otherwis',
      'otherwise',
    ],
    gated: [() => gated(bell, bell as never, { method: ['ring'] } as never), 'method', 'methods'],
    forward: [() => forward('options.test', { befor: () => {} } as never), 'befor', 'before'],
    approveSession: [() => approveSession(bell, { ende: Promise.resolve() } as never), 'ende', 'ended'],
    approveFor: [() => approveFor(bell, { second: 1 } as never), 'second', 'seconds'],
  });
  // Nothing was wrapped, and the bell itself is as it was.
  expect(await E(bell).ring()).toBe(1);
});
