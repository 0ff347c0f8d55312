/** `npm run attack:fs -- --kills 60` is the same with more kills. */
import fs from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { volume } from '../../../test/depth.ts';
import { killWrites } from '../attack/kill.ts';
import { backends, lacks } from '../test/backends.ts';
import { scratch, temporaries } from '../test/scratch.ts';
import { openFsCap } from './index.ts';

const KILLS = volume(2, 6);

for (const backend of backends) {
  const lacking = await lacks(backend);
  test(`${backend}: through kill -9 every reader meets the old content or the new one, however it is written`, async (context) => {
    if (lacking !== undefined) context.skip(lacking);
    const { kills, reads, partial, listed } = await killWrites(backend, KILLS);
    expect({ kills, partial, listed }).toEqual({ kills: KILLS, partial: [], listed: 0 });
    expect(reads).toBeGreaterThan(kills);
  });

  test(`${backend}: what a kill left is not listed, found or nameable`, async (context) => {
    if (lacking !== undefined) context.skip(lacking);
    await using s = await scratch();
    const stray = '.~caps-0123456789abcdef';
    fs.writeFileSync(s.at(stray), 'half of it');
    const cap = await openFsCap(s.at('.'), { backend });
    onTestFinished(() => cap.close());
    expect(await cap.list()).toEqual([]);
    expect(await cap.entries()).toEqual([]);
    expect(await cap.glob('**/*')).toEqual([]);
    expect(await cap.search('half')).toEqual([]);
    await expect(cap.read(stray)).rejects.toMatchObject({ code: 'PATH_INVALID' });
    // Young as it is it might be a draft of another process: it stays until it is an hour old.
    expect(temporaries(s.at('.'))).toEqual([stray]);
  });
}
