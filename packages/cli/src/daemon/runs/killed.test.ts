/** kill -9 of `hob serve` at each step of a run: no run begins twice, what it had ends, and the schedule goes on. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { deep } from '../../../../../test/depth.ts';
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
    src: { fs: project/src, can: [read, list, write] }
    nightly: { schedule: worker, gives: [src], uses: 50 }
`;

/** Steps of the host, and of the agent. */
const STEPS = deep
  ? (['before-spawn', 'after-spawn', 'after-exit', 'begun', 'entered', 'called', 'ends'] as const)
  : (['before-spawn', 'after-exit', 'called'] as const);

/** The names of the runs that began, in the order of the log. */
const begun = (log: string): readonly string[] => [...log.matchAll(/run (nightly-s1-\d+) begins/g)].map((one) => one[1] ?? ''); // biome-ignore format: one line

for (const step of STEPS)
  test(`killed at ${step}: that run is not begun again, and the next one is`, async () => {
    const hob = scheduledHome(MANIFEST, { kill: step });
    const host = await hob.serve();
    const asker = await hob.asker();
    const task = JSON.stringify({ kill: step, calls: [['src', 'append', 'runs.txt', 'x\n']] });
    expect((await asker.call('nightly', 'every', '* * * * *', task))[0]).toBe('ok');
    expect(await host.ended).toBe('SIGKILL');
    asker.running.child.kill('SIGKILL');
    const again = await hob.serve();
    await again.shows(/run nightly-s1-1 was cut by the end of its host, and is not begun again/);
    await again.shows(/run nightly-s1-\d+ is over/);
    const second = await hob.asker();
    const [, schedules] = await second.call<readonly { readonly runs: number; readonly last: string }[]>(
      'nightly',
      'list',
    );
    await hob.run('revoke', 'all');
    await second.end();
    const names = [...begun(host.err), ...begun(again.err)];
    expect(new Set(names).size).toBe(names.length);
    expect(names[0]).toBe('nightly-s1-1');
    expect(schedules[0]?.runs).toBeGreaterThanOrEqual(2);
    // Each run had its effect once at the most, and the one that was cut had no other one.
    const programs = hob.seen().filter(({ what }) => what === 'begun').length;
    const effects = existsSync(join(hob.folder, 'config/project/src/runs.txt')) ? readFileSync(join(hob.folder, 'config/project/src/runs.txt'), 'utf8').length / 2 : 0; // biome-ignore format: one line
    expect(programs).toBeLessThanOrEqual(names.length);
    expect(effects).toBeLessThanOrEqual(programs);
    expect(effects).toBeGreaterThanOrEqual(1);
    const ended = (await hob.ledger()).filter(({ k, what, why }) => k === 'session' && what === 'end' && why === 'its host ended during the run'); // biome-ignore format: one line
    expect(ended).toHaveLength(1);
  }, 180_000);
