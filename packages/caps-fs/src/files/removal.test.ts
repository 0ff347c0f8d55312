/** A recursive removal that cannot be made: nothing is gone, or the error says what is. */
import fs from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { scratch, temporaries } from '../../test/scratch.ts';
import { type Kernel, KernelError } from '../base/kernel.ts';
import { chooseBackend } from '../drivers/backend.ts';
import { openWith } from '../open.ts';

/** A kernel whose user may not remove names that end in this, which no look beforehand shows. */
function stubborn(end: string): Kernel {
  const kernel = chooseBackend();
  return {
    ...kernel,
    unlink(dir, name) {
      if (typeof name !== 'string' && new TextDecoder().decode(name).endsWith(end)) throw new KernelError('EPERM');
      kernel.unlink(dir, name);
    },
  };
}

const errorOf = (promise: Promise<unknown>): Promise<{ code: string; message: string }> =>
  promise.then(
    () => ({ code: 'ok', message: '' }),
    (error: { code: string; message: string }) => error,
  );

test('a recursive removal that fails on its way says exactly what is gone, and the rest keeps its name', async () => {
  await using s = await scratch();
  fs.mkdirSync(s.at('d/b'), { recursive: true });
  for (const name of ['a', 'b/1', 'b/2', 'b/3-stays', 'b/4', 'c']) fs.writeFileSync(s.at(`d/${name}`), '');
  const cap = openWith(stubborn('-stays'), s.at('.'));
  onTestFinished(() => cap.close());
  const { code, message } = await errorOf(cap.remove('d', { recursive: true }));
  expect(code).toBe('NOT_PERMITTED');
  expect(message).toContain('stopped at b/3-stays, gone are 3 entries: a, b/1, b/2');
  expect(fs.readdirSync(s.at('d'), { recursive: true }).sort()).toEqual(['b', 'b/3-stays', 'b/4', 'c']);
  expect(temporaries(s.at('.'))).toEqual([]);
});

test('of a large removal that fails the error says where it stopped, and all before that is gone, nothing after it', async () => {
  await using s = await scratch();
  fs.mkdirSync(s.at('d'));
  const names = Array.from({ length: 300 }, (_, i) => `${1_000 + i}`);
  for (const name of names) fs.writeFileSync(s.at(`d/${name === '1200' ? '1200-stays' : name}`), '');
  const cap = openWith(stubborn('-stays'), s.at('.'));
  onTestFinished(() => cap.close());
  const { message } = await errorOf(cap.remove('d', { recursive: true }));
  expect(message).toContain('stopped at 1200-stays, gone are 200 entries: all that come before it');
  expect(fs.readdirSync(s.at('d')).sort()[0]).toBe('1200-stays');
  expect(fs.readdirSync(s.at('d')).length).toBe(100);
});
