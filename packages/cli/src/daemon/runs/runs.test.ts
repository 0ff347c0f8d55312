/**
 * Scheduled runs of a real `hob serve`, whose clocks run fast. The attacker is the session that asks for runs, and the
 * agent of a run.
 */
import { expect } from 'vitest';
import { requires } from '../../../../../test/needs.ts';
import { scheduledHome } from '../../../test/scheduled.ts';

const test = requires('linux');

const MANIFEST = `version: 1
roots: { project: project }
agents:
  worker: { command: {agent} }
session:
  deadline: 30d
  mode: autonomous
  caps:
    src: { fs: project/src, can: [read, list] }
    plans: { fs: project, can: [read, list, write] }
    nightly: { schedule: worker, gives: [src, edit], uses: 50, lasts: 20m }
  ask:
    edit: { fs: project/src, can: [read, write], offer: { uses: 1 } }
`;

test('a run is a fresh session with what its schedule gives, and is seen by name: sessions, grants, log, ledger', async () => {
  const hob = scheduledHome(MANIFEST);
  const host = await hob.serve();
  const asker = await hob.asker();
  const task = JSON.stringify({ calls: [['src', 'readText', 'a.txt'], ['plans', 'readText', 'src/a.txt'], ['nightly', 'list'], ['src', 'write', 'a.txt', 'x']] }); // biome-ignore format: one line
  expect(await asker.call('nightly', 'every', '* * * * *', task)).toMatchObject(['ok', { id: 's1', runs: 0 }]);
  await hob.sees('ends', 2);
  const begun = hob.seen().filter(({ what }) => what === 'begun');
  expect(begun[0]?.task).toBe(task);
  expect(hob.seen().filter(({ what }) => what === 'entered')[0]?.['caps']).toEqual(['edit', 'src']);
  const none = ['no-such-object'];
  const ends = hob.seen().filter(({ what }) => what === 'called').map(({ ended }) => ended); // biome-ignore format: one line
  expect(ends.slice(0, 4)).toEqual([['ok', 'one\n'], none, none, ['NOT_PERMITTED']]);
  await host.shows(/run nightly-s1-1 is over/);
}, 120_000);
