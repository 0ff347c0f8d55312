import { expect, test } from 'vitest';
import { nextSteps } from './next-steps.ts';

const words = { hob: 'hob', agent: 'hob-agent', state: 'state' };
const told = (session: string | undefined, granter: string | undefined): string =>
  nextSteps(
    {
      ...{ url: 'ws://127.0.0.1:1', state: 'state', ended: false, lost: false },
      secrets: { session: { id: 's', secret: session }, granter: { id: 'g', secret: granter } },
      files: { session: '/d/session', granter: '/d/granter' },
    } as never,
    words as never,
  ).join('\n');

test('a start says whose secret it did not make, and how to get a new one', () => {
  expect(told('new', 'new')).not.toMatch(/To get a new one/);
  expect(told(undefined, undefined)).toMatch(/session has the secret of an earlier start[^\n]*--new-secrets$/m);
  // As with --new-session: the session is new, and its granter is not.
  expect(told('new', undefined)).toMatch(/granter has the secret of an earlier start[^\n]*--new-secrets/);
});
