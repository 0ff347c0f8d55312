/** Generated sequences of every family; and what fails is shrunk, kept, and plays again. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, onTestFinished } from 'vitest';
import { requires } from '../test/needs.ts';
import { readSequence } from './scripts.ts';
import { type Family, playFamily, reportSequences, withVerdicts } from './sequences.ts';

const test = requires('linux', 'hermes');

test('a few sequences of every family that Hermes only says something of: none escapes, none is unexplained', async () => {
  const played = await withVerdicts('0.19.0', async (families) => {
    const counted = [];
    for (const family of families) counted.push(await playFamily(family, { seed: 13, numRuns: 2 }));
    return counted;
  });
  expect(played.map(({ name }) => name)).toEqual([
    'approvals',
    ...['skill_write', 'skill_view', 'cron_script', 'credential_file', 'credential_config'],
    ...['file rules', 'overlap', 'loops'],
  ]);
  expect(played.filter(({ sequences, fault }) => sequences !== 2 || fault !== undefined)).toEqual([]);
});

test('a sequence that fails is shrunk and kept as a script, which is that sequence in another run’s folder', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'hob-sequences-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  // It fails where three is in it, whatever else is.
  const family: Family = {
    name: 'to fail',
    base: '/here/one',
    sequences: fc.array(fc.integer({ min: 0, max: 9 }).map((n) => `/here/one/${n}`)),
    play: async (value) =>
      (value as string[]).map((path) => ({ class: path.endsWith('/3') ? 'cap-escape' : 'equal', note: path })),
  };
  const counted = await playFamily(family, { seed: 13, numRuns: 200 });
  expect(counted.fault).toEqual({ value: ['/here/one/3'], note: 'cap-escape: /here/one/3' });
  const { faults, table } = reportSequences([{ family, counted }], folder);
  const file = join(folder, 'sequences', 'to-fail.sh');
  expect(faults).toEqual([`a sequence of to fail: cap-escape: /here/one/3 (${file})`]);
  expect(table).toContain('FAILED');
  expect(readFileSync(file, 'utf8')).not.toContain('/here/one');
  expect(readSequence(file, '/there')).toEqual({ sequence: 'to fail', value: ['/there/3'] });
});
