/** Options that nobody reads, and errors that say which cause it was. */
import fs from 'node:fs';
import { expect, test } from 'vitest';
import { scratch } from '../../test/scratch.ts';
import { openFsCap } from '../index.ts';
import { outward } from './errors.ts';
import { KernelError } from './kernel.ts';

const errorOf = (act: () => Promise<unknown>): Promise<{ code: string; message: string }> =>
  act().then(
    () => ({ code: 'ok', message: '' }),
    (error: { code: string; message: string }) => error,
  );

test('an option of another name is refused, in every operation that takes options, and nothing is done', async () => {
  await using s = await scratch();
  fs.writeFileSync(s.at('f'), 'kept');
  fs.mkdirSync(s.at('d/e'), { recursive: true });
  const wrong = { creat: 'new' } as object;
  const asked: Readonly<Record<string, () => Promise<unknown>>> = {
    write: () => s.cap.write('f', 'lost', wrong),
    read: () => s.cap.read('f', wrong),
    readText: () => s.cap.readText('f', wrong),
    edit: () => s.cap.edit('f', [{ oldText: 'kept', newText: 'lost' }], wrong),
    oneEdit: () => s.cap.edit('f', [{ oldText: 'kept', newText: 'lost', ...wrong }]),
    entries: () => s.cap.entries('.', wrong),
    mkdir: () => s.cap.mkdir('made', wrong),
    remove: () => s.cap.remove('f', wrong),
    search: () => s.cap.search('kept', wrong),
    query: () => s.cap.search({ pattern: 'kept', ...wrong }),
    withQuota: () => s.cap.withQuota({ bytes: 1, ...wrong }),
    open: () => openFsCap(s.at('.'), wrong),
    limits: () => openFsCap(s.at('.'), { limits: wrong as never }),
    list: () => s.cap.write('f', 'lost', [] as never),
  };
  for (const [what, ask] of Object.entries(asked)) {
    const { code, message } = await errorOf(ask);
    expect([what, code]).toEqual([what, 'invalid']);
    if (what !== 'list') expect(message).toMatch(/has no "creat": (did you mean "create"[?] )?there (are|is) /);
  }
  expect(fs.readFileSync(s.at('f'), 'utf8')).toBe('kept');
  expect(fs.readdirSync(s.at('.')).sort()).toEqual(['d', 'f']);
});

test('each cause of a malformed path has a text of its own', async () => {
  await using s = await scratch();
  fs.symlinkSync(Buffer.from([0xff]), s.at('link'));
  fs.mkdirSync(s.at('d'));
  const causes: Readonly<Record<string, () => Promise<unknown>>> = {
    'not text': () => s.cap.read(1 as never),
    empty: () => s.cap.read(''),
    long: () => s.cap.read('x/'.repeat(3_000)),
    surrogate: () => s.cap.read('\ud800'),
    nul: () => s.cap.read('a\0b'),
    names: () => s.cap.read('x/'.repeat(200)),
    name: () => s.cap.read('x'.repeat(256)),
    ours: () => s.cap.read(`.~caps-${'0'.repeat(16)}`),
    link: () => s.cap.read('link'),
    itself: () => s.cap.rename('d', 'd/e'),
    'empty pattern': () => s.cap.glob(''),
    'long pattern': () => s.cap.glob('x'.repeat(5_000)),
    'nul pattern': () => s.cap.glob('a\0'),
    root: () => openFsCap(''),
    'root nul': () => openFsCap('/\0'),
  };
  const texts = new Set<string>();
  for (const [what, ask] of Object.entries(causes)) {
    const { code, message } = await errorOf(ask);
    expect([what, code]).toEqual([what, 'PATH_INVALID']);
    texts.add(message);
  }
  expect(texts.size).toBe(Object.keys(causes).length);
});

test('what the system refuses does not send anybody to ask for a wider grant', () => {
  for (const errno of ['EACCES', 'EPERM', 'EROFS', 'ETXTBSY']) {
    const { code, message } = outward(new KernelError(errno)) as { code: string; message: string };
    expect([errno, code]).toEqual([errno, 'NOT_PERMITTED']);
    expect(message).toMatch(/^not permitted by the system: /);
    expect(message).not.toMatch(/grant$/);
  }
});
