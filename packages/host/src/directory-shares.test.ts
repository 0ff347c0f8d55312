/** A directory that is granted to several sessions: each has its share of it. */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { type FsCap, openFsCap } from '@hob/caps-fs';
import { revocable } from '@hob/revocable';
import { driverOf, E, type Far, openVats, type Vats } from '@hob/vat';
import { expect, onTestFinished, test } from 'vitest';

async function open(): Promise<{ readonly vats: Vats; readonly directory: Far<FsCap> }> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'hob-shares-'));
  const vats = await openVats();
  const cap = await openFsCap(folder, { limits: { maxSearchMs: 600_000 } });
  onTestFinished(async () => {
    await vats.close();
    await cap.close();
    fs.rmSync(folder, { recursive: true });
  });
  for (let d = 0; d < 12; d++) {
    fs.mkdirSync(path.join(folder, `tree/${d}`), { recursive: true });
    for (let i = 0; i < 60; i++) fs.writeFileSync(path.join(folder, `tree/${d}/${i}`), 'x'.repeat(2_000));
  }
  fs.writeFileSync(path.join(folder, 'f'), 'content');
  return { vats, directory: driverOf<FsCap>(cap) };
}

/** The cap of a session: a grant of the directory, on its own meter or the program's. */
async function granted(vats: Vats, directory: Far<FsCap>, name: string, ownMeter: boolean): Promise<Far<FsCap>> {
  const vat = vats.vat(name, ownMeter ? { meter: vats.meter(name) } : {});
  const made = await vat.turn(() => revocable(directory, { for: 600_000 }) as never);
  return (made as { readonly cap: Far<FsCap> }).cap;
}

for (const [who, ownMeter] of [
  ['sessions', true],
  ['grants of a program without sessions', false],
] as const)
  test(`${who} that share a directory: one that takes all it can leaves the others their part`, async () => {
    const { vats, directory } = await open();
    const hostile = await granted(vats, directory, 'hostile', ownMeter);
    const neighbour = await granted(vats, directory, 'neighbour', ownMeter);
    const taken: unknown[] = [];
    for (let i = 0; i < 300; i++)
      taken.push(
        await E(hostile)
          .subdir('.')
          .catch(() => undefined),
      );
    expect(taken.filter(Boolean).length).toBe(128);
    expect(await E(neighbour).subdir('.')).toBeDefined();
    const searches = Array.from({ length: 60 }, () => E(hostile).search('nowhere', { path: 'tree' }));
    let over = 0;
    for (const one of searches) void one.then(() => (over += 1));
    for (let i = 0; i < 20; i++) expect(await E(neighbour).readText('f')).toBe('content');
    expect(over).toBeLessThan(60);
    await Promise.all(searches);
  });
