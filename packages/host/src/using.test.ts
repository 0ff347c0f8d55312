import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openFsCap } from '@hob/caps-fs';
import { connect, driver, E, openStore, openVats } from '@hob/vat';
import { expect, onTestFinished, test } from 'vitest';
import { openHost, type SessionFace } from './index.ts';

const scratch = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'hob-using-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

/** Keeps what was opened in a scope that has ended. */
async function after<T extends AsyncDisposable>(opened: Promise<T>, use: (opened: T) => Promise<unknown>): Promise<T> {
  await using held = await opened;
  await use(held);
  return held;
}

test('`await using` closes vats, stores, directories, hosts and connections at the end of the scope', async () => {
  const store = await after(openStore({ memory: true }), async () => {});
  await expect(openVats({ store, definitions: [] })).rejects.toThrow();

  const vats = await after(openVats(), (held) => held.vat('v').turn(() => 1));
  expect(() => vats.vat('w')).toThrow(expect.objectContaining({ code: 'vat-halted' }));

  const directory = await after(openFsCap(scratch()), (cap) => cap.write('a.txt', 'a'));
  await expect(directory.readText('a.txt')).rejects.toMatchObject({ code: 'CLOSED' });

  let closed: Promise<unknown> | undefined;
  const host = await after(openHost({ stateDir: join(scratch(), 'state') }), async (held) => {
    await held.offer('clock', driver<{ now(): number }>({ now: () => 1 }));
    const { url } = await held.serve();
    const { secret } = await held.openSession({ name: 'work' });
    const connection = await after(connect<SessionFace>(url, { secret }), async ({ bootstrap }) => {
      expect(await E(bootstrap).caps()).toEqual([]);
    });
    closed = connection.closed;
    await expect(E(connection.bootstrap).caps()).rejects.toMatchObject({ code: 'disconnected' });
  });
  expect(await closed).toMatchObject({ code: 1000 });
  await expect(host.openSession({ name: 'late' })).rejects.toMatchObject({ code: 'vat-halted' });
});
