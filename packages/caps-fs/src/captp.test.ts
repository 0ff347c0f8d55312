/**
 * The cap as its holder has it: the same object as a driver, over CapTP, in both dialects, with its bytes and
 * its streams.
 */
import fs from 'node:fs';
import { captp, type Dialect, driverOf, E, type Far, iterate, memoryPair } from '@hob/vat';
import { describe, expect, onTestFinished, test } from 'vitest';
import { bytes, code, openDescriptors, SECRET, scratch } from '../test/scratch.ts';
import type { ByteSink, ByteSource, FsCap } from './index.ts';

/** The cap as the peer holds it. The connection ends with the test. */
function held(cap: FsCap, dialect: Dialect): { readonly far: Far<FsCap>; close(): Promise<unknown> } {
  const [ours, theirs] = memoryPair();
  const host = captp(ours, { dialect, bootstrap: driverOf(cap) });
  const peer = captp<FsCap>(theirs, { dialect });
  const close = (): Promise<unknown> => {
    peer.close();
    return Promise.all([host.closed, peer.closed]);
  };
  onTestFinished(async () => void (await close()));
  return { far: peer.bootstrap, close };
}

// The dialect of Endo has no codes: there they stand in front of the text.
const refused = async (asked: Promise<unknown>): Promise<string> =>
  asked.then(
    () => 'ok',
    (error: { code?: string; message: string }) =>
      /\b([A-Z]+(?:_[A-Z]+)+|CLOSED|STALE|EXISTS)\b/.exec(`${error.code} ${error.message}`)?.[1] ?? error.message,
  );

describe.each(['hob.1', 'captp'] as const)('%s', (dialect) => {
  test('every operation does over the wire what it does here', async () => {
    await using s = await scratch();
    const { far } = held(s.cap, dialect);
    const cap = E(far) as unknown as FsCap;
    await cap.mkdir('d/e', { recursive: true });
    const { version } = await cap.write('d/f', bytes('one\ntwo\n'), { create: 'new', durable: true });
    expect(Buffer.from(await cap.read('d/f', { offset: 4 })).toString()).toBe('two\n');
    expect(await cap.readText('d/f', { line: 2, lines: 1 })).toBe('two\n');
    expect((await cap.stat('d/f')).version).toBe(version);
    const edited = await cap.edit('d/f', [{ oldText: 'two', newText: '2' }], { version });
    expect(edited.diff).toContain('-two\n+2\n');
    expect(await refused(cap.edit('d/f', [{ oldText: '2', newText: '3' }], { version }))).toBe('STALE');
    await cap.append('d/f', 'three\n');
    await cap.copy('d/f', 'd/g');
    await cap.rename('d/g', 'd/e/h');
    expect(await cap.list('d')).toEqual(['e', 'f']);
    expect((await cap.entries('d', { limit: 1 })).map(({ name, kind }) => [name, kind])).toEqual([['e', 'dir']]);
    expect(await cap.glob('**/*')).toEqual(['d', 'd/e', 'd/e/h', 'd/f']);
    expect(await cap.search({ pattern: '^th' }, { path: 'd/f' })).toEqual([
      { path: 'd/f', line: 3, column: 1, text: 'three' },
    ]);
    await cap.remove('d/e', { recursive: true });
    expect(fs.readdirSync(s.at('d'))).toEqual(['f']);
    const every = new Uint8Array(100_000).map((_, i) => i);
    await cap.write('bytes', every);
    expect(await cap.read('bytes')).toEqual(every);
  });

  test('subdirectories and narrower caps are objects of their own, and no wire makes them wider', async () => {
    await using s = await scratch();
    fs.mkdirSync(s.at('d'));
    fs.writeFileSync(s.at('d/.env'), 'secret');
    fs.symlinkSync(s.outside('secret'), s.at('d/out'));
    const { far } = held(s.cap, dialect);
    const narrow = E(E(E(E(far).subdir('d')).except(['.env'])).readOnly()) as unknown as FsCap;
    expect(await narrow.list()).toEqual(['out']);
    expect(await refused(narrow.readText('.env'))).toBe('NOT_PERMITTED');
    expect(await refused(narrow.write('x', ''))).toBe('READ_ONLY');
    for (const path of ['out', '../d/.env', '/etc/passwd']) {
      const told = await narrow.readText(path).catch((error: Error) => error.message);
      expect(told).toMatch(/resolved outside root|path escapes|absolute paths forbidden/);
      expect(told).not.toContain(SECRET);
    }
    await narrow.close();
    expect(await refused(narrow.list())).toBe('CLOSED');
    expect(await refused((E(far) as unknown as FsCap).list())).toBe('ok');
  });

  test('a file goes through streams both ways, one chunk at a time', async () => {
    await using s = await scratch();
    const before = openDescriptors();
    const content = new Uint8Array(1_500_000).map((_, i) => i % 253);
    const { far } = held(s.cap, dialect);
    const sink = (await E(far).openWrite('f')) as unknown as Far<ByteSink>;
    for (let at = 0; at < content.length; at += 200_000) await E(sink).write(content.subarray(at, at + 200_000));
    expect(fs.existsSync(s.at('f'))).toBe(false);
    await E(sink).close();
    expect(fs.readFileSync(s.at('f')).equals(content)).toBe(true);
    const source = (await E(far).openRead('f')) as unknown as Far<ByteSource>;
    const got: Uint8Array[] = [];
    for await (const chunk of iterate(source)) got.push(chunk);
    expect(Buffer.concat(got).equals(content)).toBe(true);
    expect(got.length).toBeGreaterThan(3);
    await E(source).return();
    expect(openDescriptors()).toBe(before);
  });
});

test('there is no message for what is the host’s only', async () => {
  await using s = await scratch();
  const far = held(s.cap, 'hob.1').far as unknown as Far<Record<string, () => void>>;
  for (const name of ['mountable', 'lastsUnder', 'constructor', '__proto__', 'then', 'hold', 'fd']) {
    expect([name, await code(E(far)[name]?.() ?? Promise.reject({ code: 'none' }))]).not.toEqual([name, 'ok']);
  }
});
