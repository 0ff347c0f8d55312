/** Appends and copies between changes of names: each is made at one moment, whatever else is under way. */
import fs from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { code, scratch } from '../../test/scratch.ts';
import { chooseBackend } from '../drivers/backend.ts';
import { openWith } from '../open.ts';
import { WriteOrder } from './order.ts';

/** A cap whose bytes move only when they are let. */
async function slow(way: 'read' | 'write') {
  const s = await scratch();
  onTestFinished(() => s[Symbol.asyncDispose]());
  const kernel = chooseBackend('proc');
  const asked = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const cap = openWith(
    {
      ...kernel,
      // Else small bytes would move at once where the test's own directory is in memory.
      inMemory: () => false,
      [way]: async (...given: Parameters<typeof kernel.read>) => {
        asked.resolve();
        await gate.promise;
        return await kernel[way](...given);
      },
    },
    s.at('.'),
  );
  onTestFinished(() => cap.close());
  // The last hook runs first. Otherwise a test that failed before `go` would wait for the close for ever.
  onTestFinished(() => gate.resolve());
  return { s, cap, asked: asked.promise, go: () => gate.resolve() };
}

const turns = async (): Promise<void> => {
  for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
};

test('a file that is being appended to keeps its name until the bytes are there', async () => {
  for (const change of ['rename', 'rename above', 'remove', 'replace', 'edit'] as const) {
    const { s, cap, asked, go } = await slow('write');
    fs.mkdirSync(s.at('d'));
    fs.writeFileSync(s.at('d/log'), 'old');
    const appended = code(cap.append('d/log', ' new'));
    await asked;
    let done = false;
    const changed = code(
      change === 'rename'
        ? cap.rename('d/log', 'moved')
        : change === 'rename above'
          ? cap.rename('d', 'e')
          : change === 'remove'
            ? cap.remove('d/log')
            : change === 'edit'
              ? cap.edit('d/log', [{ oldText: 'old', newText: 'edited' }])
              : cap.write('d/log', 'other'),
    ).finally(() => {
      done = true;
    });
    await turns();
    expect([change, done]).toEqual([change, false]);
    go();
    expect([await appended, await changed]).toEqual(['ok', 'ok']);
    const now = { rename: 'moved', 'rename above': 'e/log' }[change as string];
    if (now) expect(fs.readFileSync(s.at(now), 'utf8')).toBe('old new');
    if (change === 'edit') expect(fs.readFileSync(s.at('d/log'), 'utf8')).toBe('edited new');
  }
});

test('a copy shows what its source is when it gets its name: appended to, replaced, moved, gone', async () => {
  for (const [change, outcome] of [
    ['append', 'old new'],
    ['replace', 'other'],
    ['rename', 'NOT_FOUND'],
    ['remove', 'NOT_FOUND'],
  ] as const) {
    const { s, cap, asked, go } = await slow('read');
    fs.writeFileSync(s.at('f'), 'old');
    const copied = code(cap.copy('f', 'copy'));
    await asked;
    if (change === 'append') await cap.append('f', ' new');
    if (change === 'replace') await cap.write('f', 'other');
    if (change === 'rename') await cap.rename('f', 'moved');
    if (change === 'remove') await cap.remove('f');
    go();
    const got = await copied;
    expect([change, got === 'ok' ? fs.readFileSync(s.at('copy'), 'utf8') : got]).toEqual([change, outcome]);
  }
});

test('a directory that is empty but for what is not yet whole goes like an empty one', async () => {
  const { s, cap, asked, go } = await slow('write');
  fs.mkdirSync(s.at('d'));
  const written = code(cap.write('d/f', 'late'));
  await asked;
  expect([await cap.list('d'), fs.readdirSync(s.at('d')).length]).toEqual([[], 1]);
  expect(await code(cap.remove('d'))).toBe('ok');
  go();
  expect(await written).toBe('NOT_FOUND');
  expect(fs.readdirSync(s.at('.'))).toEqual([]);
  // A name that is no UTF-8 is not listed either, but it is somebody's.
  fs.mkdirSync(s.at('e'));
  fs.writeFileSync(Buffer.concat([Buffer.from(s.at('e/')), Buffer.from([0xff])]), 'kept');
  fs.writeFileSync(s.at('e/.~caps-0123456789abcdef'), '');
  expect(await code(cap.remove('e'))).toBe('NOT_EMPTY');
  expect(fs.readdirSync(s.at('e')).length).toBe(2);
});

test('changes of names are exclusive, appends beside each other, and nobody is kept waiting by those who came later', async () => {
  const order = new WriteOrder();
  const log: string[] = [];
  const gates = new Map<string, () => void>();
  const start = (how: 'shared' | 'exclusive', name: string): Promise<void> =>
    order[how](async () => {
      log.push(`+${name}`);
      await new Promise<void>((resolve) => gates.set(name, resolve));
      log.push(`-${name}`);
    });
  const all = [
    start('shared', 'a'),
    start('shared', 'b'),
    start('exclusive', 'c'),
    start('shared', 'd'),
    start('shared', 'e'),
  ];
  expect(log).toEqual(['+a', '+b']);
  for (const name of ['b', 'a', 'c', 'd', 'e']) {
    gates.get(name)?.();
    await turns();
  }
  await Promise.all(all);
  expect(log).toEqual(['+a', '+b', '-b', '-a', '+c', '-c', '+d', '+e', '-d', '-e']);
  // A step that fails lets the next one in.
  expect(await code(order.exclusive(() => Promise.reject(new Error('x'))))).toBe('Error: x');
  await order.exclusive(() => {});
});
