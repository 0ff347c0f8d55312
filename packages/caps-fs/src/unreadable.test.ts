/** A disk that fails is not a file that is not there. */
import fs from 'node:fs';
import { expect, test } from 'vitest';
import { scratch } from '../test/scratch.ts';
import { KernelError } from './base/kernel.ts';
import { chooseBackend } from './drivers/backend.ts';
import { openWith } from './open.ts';

test('a search below rules that the disk cannot give fails, and shows nothing of what they ignore', async () => {
  await using s = await scratch();
  fs.mkdirSync(s.at('a/kept'), { recursive: true });
  fs.writeFileSync(s.at('.gitignore'), 'ignored.txt\n');
  for (const name of ['ignored.txt', 'other.txt']) fs.writeFileSync(s.at(`a/kept/${name}`), 'needle\n');
  let errno = '';
  const kernel = chooseBackend();
  const cap = openWith(
    {
      ...kernel,
      readNow(...args) {
        // The rules above the start are read first.
        const fails = errno;
        errno = '';
        if (fails !== '') throw new KernelError(fails);
        return kernel.readNow(...args);
      },
    },
    s.at('.'),
  );
  const found = async (): Promise<unknown> =>
    cap.search('needle', { path: 'a' }).then(
      (hits) => (hits as readonly { readonly path: string }[]).map(({ path }) => path),
      (error: { readonly code?: string }) => error.code,
    );
  expect(await found()).toEqual(['a/kept/other.txt']);
  errno = 'EIO';
  expect(await found()).toBe('IO');
  errno = 'EACCES';
  expect(await found()).toEqual(['a/kept/ignored.txt', 'a/kept/other.txt']);
  await cap.close();
});
