/** Every verb that works on a state which nobody serves takes one that a host has served, with all that its manifest names. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { hobHome } from '../../test/hob.ts';

// Whatever a host can keep beside its sessions: schedules here. A store with an object that nobody defines does not open.
const SERVED = `version: 1
roots: { project: project }
agents: { worker: { command: [sh, -c, exit] } }
session:
  caps:
    src: { fs: project/src, can: [read, list] }
    nightly: { schedule: worker, gives: [src] }
`;

test('a state that was served is taken by each verb of a state at rest, and then served again', async () => {
  const hob = hobHome(SERVED);
  const first = await hob.serve();
  first.child.kill('SIGTERM');
  await first.ended;
  const storing = hob.start('secret', 'set', 'TOKEN');
  storing.child.stdin?.end('a value of a secret');
  expect([await storing.ended, storing.err]).toEqual([0, '']);
  const manifest = join(hob.folder, 'config/hob.yaml');
  const copy = join(hob.folder, 'copy.db');
  for (const line of [
    ['secret', 'list'],
    ['secret', 'rotate'],
    ['secret', 'remove', 'TOKEN'],
    ['ledger', 'verify'],
    ['ledger', 'export', join(hob.folder, 'ledger.jsonl')],
    ['ledger', 'retain', '--days', '1'],
    ['assess', 'replay'],
    ['suggest', '--manifest', manifest],
    ['backup', copy],
    ['restore', copy, '--state', join(hob.folder, 'restored')],
    ['ledger', 'verify', '--state', join(hob.folder, 'restored')],
  ]) {
    const { code, err } = await hob.run(...line);
    expect([line.join(' '), code, code === 0 ? '' : err]).toEqual([line.join(' '), 0, '']);
  }
  await hob.serve();
});
