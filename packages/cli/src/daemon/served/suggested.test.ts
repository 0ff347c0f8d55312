/** Who is told what the manifest could say. `verbs/manifest/suggest.test.ts` has the change itself. */
import type { Granter } from '@hob/host';
import type { Far } from '@hob/vat';
import { expect, test } from 'vitest';
import { suggestedTo } from './suggested.ts';

test('nobody but the owner is told what stands in the manifest, and nothing is read for them', async () => {
  const read: string[] = [];
  const owner = new Proxy({}, { get: (_, name) => read.push(String(name)) }) as Far<Granter>;
  const served = async () => {
    read.push('served');
    return { files: [], offers: {} };
  };
  for (const granter of ['bob', 'Owner', 'owner ', ''])
    expect(await suggestedTo(granter, { owner, manifest: '/none', served }), granter).toBe(undefined);
  // The manifest may leave the owner out: then it is no granter of the sessions, and has no ledger of theirs.
  expect(await suggestedTo('owner', { owner: undefined, manifest: '/none', served })).toBe(undefined);
  expect(read).toEqual([]);
});
