import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openDescriptors } from '../../test/scratch.ts';
import { nodeKernel } from './node-fs.ts';

const places = [os.tmpdir(), '/dev/shm'].filter((place) => fs.existsSync(place));

test('a listing has the names that are there, at most as many as asked for, also if the caller closes the directory meanwhile', async () => {
  const kernel = nodeKernel();
  for (const place of places) {
    const top = fs.mkdtempSync(path.join(place, 'caps-fs-names-'));
    onTestFinished(() => fs.rmSync(top, { recursive: true }));
    const at = (name: string): string => path.join(top, name);
    const names = ['\ufffd', '.hidden', 'a\nb', 'b', '\u{1f600}', '\uffee', 'x'.repeat(255)];
    for (const name of names) fs.writeFileSync(at(name), '');
    // These names are not UTF-8. Node would read the second as U+FFFD, and a file with that name is there.
    for (const name of ['no', '']) {
      fs.writeFileSync(Buffer.concat([Buffer.from(`${top}/${name}`), Buffer.from([0xff])]), '');
    }
    const root = kernel.openRoot(top);
    onTestFinished(() => kernel.close(root));
    const before = openDescriptors();
    const whole = await kernel.names(root, 1_000_000);
    expect(whole).toEqual(['.hidden', 'a\nb', 'b', 'x'.repeat(255), '\uffee', '\ufffd', '\u{1f600}']);
    // Names that are not UTF-8 do not count, so this limit is enough for all others.
    expect(await kernel.names(root, names.length)).toEqual(whole);
    for (const max of [1, 3, names.length - 1]) expect((await kernel.names(root, max)).length).toBe(max);
    // The caller may close the directory while it is listed.
    const dir = kernel.openDirectory(root, '.');
    const listing = kernel.names(dir, 1_000_000);
    kernel.close(dir);
    const other = fs.openSync(place, 'r');
    expect(await listing).toEqual(whole);
    fs.closeSync(other);
    expect(openDescriptors()).toBe(before);
  }
});
