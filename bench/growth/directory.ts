/** Measures a directory with many entries, through its capability. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type FsCap, openFsCap } from '@hob/caps-fs';
import type { Tell } from './fields.ts';
import { pages } from './hosts.ts';
import { folderOf, medianMs, usEach } from './times.ts';

const atOnce = 8;

export async function measureDirectory(sizes: readonly number[], tell: Tell): Promise<void> {
  const folder = folderOf('directory');
  const proc = await openFsCap(folder, { backend: 'proc' });
  const native = await openFsCap(folder);
  let held = 0;
  for (const n of sizes) {
    for (; held < n; held += 1) writeFileSync(join(folder, `file-${held}`), '');
    tell('stat one', n, await usEach(21, atOnce, (i) => native.stat(`file-${(i * 7919) % n}`)));
    tell('glob that finds ten', n, await medianMs(5, () => native.glob('file-1?')));
    tell('all in pages, native', n, await medianMs(n < 30_000 ? 5 : 3, () => listAll(native, n)));
    tell('all in pages, proc', n, await medianMs(n < 30_000 ? 5 : 1, () => listAll(proc, n)));
    const written = await usEach(21, atOnce, (i) => native.write(`new-${i}`, 'x'));
    for (let i = 0; i < 21 * atOnce; i += 1) await native.remove(`new-${i}`);
    tell('write a new one', n, written);
  }
  await Promise.all([proc.close(), native.close()]);
}

const listAll = (cap: FsCap, least: number): Promise<void> =>
  pages<{ readonly name: string }>(least, (last) => cap.entries('.', last === undefined ? {} : { after: last.name }));
