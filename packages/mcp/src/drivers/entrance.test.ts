/** The addresses by which a thin client enters its session. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openFrontDoor, openHost, type SessionFace } from '@hob/host';
import { E } from '@hob/vat';
import { expect, onTestFinished, test } from 'vitest';
import { Entrance } from './entrance.ts';

test('a session is entered at a door of one host, and at a door for several', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'hob-entrance-'));
  const host = await openHost({ stateDir: join(folder, 'state') });
  const fronts = [await openFrontDoor(), await openFrontDoor({ path: join(folder, 'socket') })];
  onTestFinished(async () => {
    await host.close();
    for (const front of fronts) await front.close();
    rmSync(folder, { recursive: true });
  });
  await host.addGranter('owner');
  const { secret } = await host.openSession({ name: 'work', granters: ['owner'] });
  const doors = [await host.serve(), await host.serve({ path: join(folder, 'own') })];
  for (const front of fronts) doors.push(await host.serve({ front, name: 'acme_1' }));
  for (const { url } of doors) {
    const entrance = new Entrance<SessionFace>(url, secret);
    expect(await E(await entrance.session()).caps()).toEqual([]);
    await entrance.close();
  }
});

test.each(['ws://h:1/A', 'ws://h:1/a/b', 'ws://h:1/a?b', 'ws+unix:/s:', 'ws+unix:/s:/a/b', 'http://h:1', 'ws://', ''])(
  '%j is no address of a session',
  (url) => {
    expect(() => new Entrance(url, 'hob1_x')).toThrowError(/the address is ws:/);
  },
);
