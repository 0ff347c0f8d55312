/** Attenuations in any order: what is allowed is what every one of them allows, whoever was first. */
import fs from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { volume } from '../../../test/depth.ts';
import { code, scratch } from '../test/scratch.ts';
import { changingMethods, type FsCap } from './index.ts';

type Less =
  | { readonly less: 'readOnly' }
  | { readonly less: 'subdir' }
  | { readonly less: 'only'; readonly operations: readonly Asked[] }
  | { readonly less: 'except'; readonly patterns: readonly string[] }
  | { readonly less: 'withQuota'; readonly bytes: number; readonly files: number };

const asked = [
  'read',
  'list',
  'write',
  'append',
  'mkdir',
  'remove',
  'rename',
  'copy',
  'glob',
  'search',
  'openRead',
  'openWrite',
  'stat',
] as const;
type Asked = (typeof asked)[number];
const changing: readonly string[] = changingMethods;
const tools = ['subdir', 'readOnly', 'only', 'except', 'withQuota'] as const;

/** The model: what is left after all of them. It knows no order. */
interface Left {
  readonly writes: boolean;
  readonly operations: ReadonlySet<string>;
  readonly patterns: readonly string[];
  readonly bytes: number;
  readonly files: number;
}

const everything: Left = { writes: true, operations: new Set(asked), patterns: [], bytes: Infinity, files: Infinity };

function narrowed(left: Left, less: Less): Left {
  switch (less.less) {
    case 'readOnly':
      return { ...left, writes: false };
    case 'subdir':
      return left;
    case 'only':
      return { ...left, operations: new Set(less.operations.filter((one) => left.operations.has(one))) };
    case 'except':
      return { ...left, patterns: [...left.patterns, ...less.patterns] };
    case 'withQuota':
      return { ...left, bytes: Math.min(left.bytes, less.bytes), files: Math.min(left.files, less.files) };
  }
}

const hides = (left: Left, name: string): boolean =>
  left.patterns.some((pattern) =>
    new RegExp(`^${pattern.replaceAll('.', '\\.').replaceAll('*', '.*').replaceAll('?', '.')}$`, 'i').test(name),
  );

/** The names in the call. The target is last. */
const named = (operation: Asked, name: string): readonly string[] =>
  operation === 'mkdir' ? [`${name}x`] : operation === 'rename' || operation === 'copy' ? [name, `${name}2`] : [name];

function expected(left: Left, operation: Asked, name: string): string {
  if (!left.operations.has(operation)) return 'NOT_PERMITTED';
  if (!left.writes && changing.includes(operation)) return 'READ_ONLY';
  if (operation === 'list' || operation === 'glob' || operation === 'search') return 'ok';
  if (named(operation, name).some((one) => hides(left, one))) return 'NOT_PERMITTED';
  const files = operation === 'mkdir' || operation === 'copy' ? 1 : 0;
  const bytes = operation === 'write' || operation === 'append' || operation === 'copy' ? 3 : 0;
  return files > left.files || bytes > left.bytes ? 'FS_LIMIT' : 'ok';
}

const ask: Readonly<Record<Asked, (cap: FsCap, name: string) => Promise<unknown>>> = {
  read: (cap, name) => cap.read(name),
  list: (cap) => cap.list(),
  write: (cap, name) => cap.write(name, 'new'),
  append: (cap, name) => cap.append(name, 'new'),
  mkdir: (cap, name) => cap.mkdir(`${name}x`),
  remove: (cap, name) => cap.remove(name),
  rename: (cap, name) => cap.rename(name, `${name}2`),
  copy: (cap, name) => cap.copy(name, `${name}2`),
  glob: (cap) => cap.glob('{*,.*}'),
  search: (cap) => cap.search('old').then((hits) => hits.map(({ path }) => path).filter((path) => !path.includes('/'))),
  openRead: (cap, name) => cap.openRead(name).then((source) => source.return()),
  openWrite: (cap, name) => cap.openWrite(name).then((sink) => sink.abort()),
  stat: (cap, name) => cap.stat(name),
};

async function lessOf(cap: FsCap, less: Less): Promise<FsCap> {
  switch (less.less) {
    case 'readOnly':
      return await cap.readOnly();
    case 'subdir':
      return await cap.subdir('d');
    case 'only':
      return await cap.only([...less.operations, ...tools]);
    case 'except':
      return await cap.except(less.patterns);
    case 'withQuota':
      return await cap.withQuota({ bytes: less.bytes, files: less.files });
  }
}

const names = ['f.txt', '.env', 'key.pem'];
const less: fc.Arbitrary<Less> = fc.oneof(
  fc.constant({ less: 'readOnly' as const }),
  fc.constant({ less: 'subdir' as const }),
  fc.record({ less: fc.constant('only' as const), operations: fc.subarray([...asked], { minLength: 6 }) }),
  fc.record({
    less: fc.constant('except' as const),
    patterns: fc.subarray(['.env', '*.pem', 'f*', '?.txt', '.E*', 'zzz', '*2'], { maxLength: 2 }),
  }),
  fc.record({ less: fc.constant('withQuota' as const), bytes: fc.nat(5), files: fc.nat(1) }),
);

test('attenuations in any order leave what all of them leave, and nothing comes back', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(less, { maxLength: 5 }),
      fc.constantFrom(...asked),
      fc.constantFrom(...names),
      async (all, operation, name) => {
        await using s = await scratch();
        for (const dir of ['.', 'd', 'd/d', 'd/d/d', 'd/d/d/d', 'd/d/d/d/d']) {
          fs.mkdirSync(s.at(dir), { recursive: true });
          for (const one of names) fs.writeFileSync(s.at(`${dir}/${one}`), 'old');
        }
        let cap = s.cap;
        let left = everything;
        for (const one of all) {
          cap = await lessOf(cap, one);
          left = narrowed(left, one);
        }
        const wanted = expected(left, operation, name);
        let answer: unknown;
        const got = await code(ask[operation](cap, name).then((value) => (answer = value)));
        expect(got).toBe(wanted);
        if (got === 'ok' && (operation === 'list' || operation === 'glob' || operation === 'search')) {
          const seen = (answer as readonly string[]).filter((one) => one !== 'd').toSorted();
          expect(seen).toEqual(names.filter((one) => !hides(left, one)).toSorted());
        }
      },
    ),
    { numRuns: volume(40, 120) },
  );
});

test('a quota is shared by everything that was made from its cap, in whatever order it was narrowed further', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(less, { maxLength: 3 }),
      fc.array(fc.nat(3), { minLength: 1, maxLength: 12 }),
      async (all, who) => {
        await using s = await scratch();
        const metered = await s.cap.withQuota({ bytes: 9 });
        const holders: FsCap[] = [metered];
        for (const one of all) {
          // Only what leaves writing as it is.
          if (one.less !== 'except' && one.less !== 'withQuota') continue;
          holders.push(
            await lessOf(holders.at(-1) as FsCap, one.less === 'except' ? one : { ...one, bytes: 1_000, files: 1_000 }),
          );
        }
        const codes: string[] = [];
        for (const [i, which] of who.entries())
          codes.push(await code((holders[which % holders.length] as FsCap).append(`q${i}_`, 'abc')));
        expect(codes.filter((one) => one === 'ok').length).toBe(Math.min(3, who.length));
        expect(new Set(codes.slice(3))).toEqual(new Set(who.length > 3 ? ['FS_LIMIT'] : []));
      },
    ),
    { numRuns: volume(20, 60) },
  );
});

test('names that except hides stay hidden: other spellings, links, renaming in and out, copying, hard links made by the holder', async () => {
  await using s = await scratch();
  fs.mkdirSync(s.at('d/.git'), { recursive: true });
  for (const one of ['.env', 'd/.env', 'd/.git/config', 'open']) fs.writeFileSync(s.at(one), 'secret');
  fs.symlinkSync('../.env', s.at('d/up'));
  fs.symlinkSync('.git/config', s.at('d/in'));
  const cap = await s.cap.except(['.env', '.git']);
  const rows: Record<string, Promise<unknown>> = {
    case: cap.read('.ENV'),
    caseCreated: cap.write('d/.Git', 'x'),
    invisible: cap.read('.e\u200dnv'),
    linkToFile: cap.read('d/up'),
    linkThrough: cap.read('d/in'),
    renameOut: cap.rename('.env', 'seen'),
    renameIn: cap.rename('open', 'd/.env'),
    copyOut: cap.copy('d/.git/config', 'seen'),
    copyOutByLink: cap.copy('d/up', 'seen'),
    copyIn: cap.copy('open', '.git'),
    mkdirIn: cap.mkdir('d/.git/x', { recursive: true }),
    streamOut: cap.openRead('d/in'),
    streamIn: cap.openWrite('.ENV'),
    searchIn: cap.search('secret', { path: 'd/.git' }),
    searchByLink: cap.search('secret', { path: 'd/up' }),
    removeAround: cap.remove('d', { recursive: true }),
  };
  for (const row of Object.values(rows)) row.catch(() => {});
  for (const [what, row] of Object.entries(rows)) expect([what, await code(row)]).toEqual([what, 'NOT_PERMITTED']);
  expect(await cap.glob('**/*')).toEqual(['d', 'd/in', 'd/up', 'open']);
  expect((await cap.search('secret')).map(({ path }) => path)).toEqual(['open']);
  // A directory that moves takes what it hides with it, hidden.
  await cap.rename('d', 'e');
  expect(await code(cap.read('e/.git/config'))).toBe('NOT_PERMITTED');
  expect(await cap.list('e')).toEqual(['in', 'up']);
  expect(fs.readFileSync(s.at('e/.git/config'), 'utf8')).toBe('secret');
  // A second name that somebody else gave it is another name: that is said in the README.
  fs.linkSync(s.at('.env'), s.at('hard'));
  expect(await cap.readText('hard')).toBe('secret');
});
