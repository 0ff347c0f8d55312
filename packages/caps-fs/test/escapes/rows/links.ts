/** Links: within, out, out and back, in circles, growing, into /proc; as the last name and as a parent. */
import {
  belowFile,
  danglingParent,
  directory,
  type ExpectedCodes,
  file,
  invalid,
  link,
  linkLoop,
  linkMalformed,
  linkOutside,
  linkOutsideByAnother,
  linkThroughFile,
  linkToDirectory,
  linkToFile,
  linkToNothing,
  listingAll,
  loop,
  missing,
  noLinkName,
  outcomes,
  outside,
  type Row,
  readingAll,
  row,
} from '../row.ts';
import type { Plants } from '../world.ts';

const at = (name: string, text: string): Plants => ({ [name]: { link: text } });

/**
 * `l/` of a link that leads to a directory: what it leads to, but nothing is made, removed or renamed by that
 * spelling.
 */
const slashedToDirectory = outcomes('IS_A_DIRECTORY', {
  ...noLinkName,
  ...listingAll('ok'),
  edit: 'NOT_A_FILE',
  stat: 'ok',
  statFollow: 'ok',
  copyTreeFrom: 'ok',
  chmod: 'ok',
  setTimes: 'ok',
  copyTreeTo: 'EXISTS',
  renameOver: 'NOT_A_DIRECTORY',
  renameOverFrom: 'NOT_A_DIRECTORY',
  mkdir: 'EXISTS',
  mkdirs: 'ok',
  remove: 'NOT_A_DIRECTORY',
  removeAll: 'NOT_A_DIRECTORY',
  renameFrom: 'NOT_A_DIRECTORY',
  renameTo: 'NOT_A_DIRECTORY',
});
const slashedOutside: ExpectedCodes = {
  ...slashedToDirectory,
  ...readingAll('RESOLVED_OUTSIDE'),
  ...listingAll('RESOLVED_OUTSIDE'),
  stat: 'RESOLVED_OUTSIDE',
  statFollow: 'RESOLVED_OUTSIDE',
  copyTreeFrom: 'RESOLVED_OUTSIDE',
  writeAt: 'RESOLVED_OUTSIDE',
  truncate: 'RESOLVED_OUTSIDE',
  chmod: 'RESOLVED_OUTSIDE',
  setTimes: 'RESOLVED_OUTSIDE',
  mkdirs: 'RESOLVED_OUTSIDE',
};

/** Texts of a last link `l` in the root, that stay within. */
const toFile: readonly string[] = [
  'file',
  'dir/file',
  './dir//file',
  'dir/./file',
  'dir/deep/../file',
  'dir/deep/../../dir/file',
  'dir/../dir/../dir/../file',
  './/.//file',
];
const toDirectory: readonly string[] = ['dir', 'dir/', 'dir/.', 'dir/deep/..', './dir//'];

/** Texts of a last link `l` in the root, that leave. */
const leaving: readonly string[] = [
  '..',
  '../',
  '../.',
  './..',
  '../..',
  'dir/../..',
  'dir/deep/../../..',
  '/',
  '//',
  '/.',
  '/..',
  'OUTSIDE',
  'OUTSIDE/',
  'OUTSIDE/secret',
  'OUTSIDE/none',
  'OUTSIDE/none/none',
  '../outside',
  '../outside/secret',
  '../outside/none',
  'dir/../../outside/secret',
  'dir/deep/../../../outside/secret',
  '/etc/passwd',
  '/none',
  // Leaving and coming back is leaving: otherwise the result would tell where the root lies.
  '../root',
  '../root/dir/file',
  '../root/none',
  'dir/../../root/file',
  '../outside/../root/dir/file',
  'ROOT',
  'ROOT/',
  'ROOT/dir/file',
  'ROOT/none',
  'TOP/outside/../root/file',
  // Magic links jump without a lookup.
  '/proc/self/root',
  '/proc/self/root/etc/passwd',
  '/proc/self/cwd',
  '/proc/self/exe',
  '/proc/self/fd/0',
  '/proc/self/fd/3',
  '/proc/thread-self/root',
  '/proc/1/root',
  '/proc/self/task',
  '/dev/fd/0',
  '/dev/stdin',
  '/dev/tty',
];

/** Texts as a parent, with what is asked for beneath. */
const parentsLeaving: readonly (readonly [text: string, below: string])[] = [
  ['OUTSIDE', 'secret'],
  ['OUTSIDE', 'none'],
  ['OUTSIDE', 'dir/secret'],
  ['OUTSIDE/', 'secret'],
  ['OUTSIDE/dir', 'secret'],
  ['OUTSIDE/secret', 'x'],
  ['OUTSIDE/none', 'x'],
  ['../outside', 'secret'],
  ['../outside/', 'none'],
  ['..', 'outside/secret'],
  ['..', 'root/file'],
  ['../root', 'file'],
  ['ROOT', 'file'],
  ['/', 'etc/passwd'],
  ['/proc/self/root', 'etc/passwd'],
  ['/proc/self/cwd', 'package.json'],
  ['/proc/self/fd', '3'],
  ['dir/../..', 'outside/secret'],
];

/** `a0` leads to `a1`, … the last one to `dir/file`. */
const chain = (length: number): Plants =>
  Object.fromEntries(
    Array.from({ length }, (_, i) => [`a${i}`, { link: i === length - 1 ? 'dir/file' : `a${i + 1}` }]),
  );
/**
 * Each names the one before it so many times, which is so many to the power of its depth if only nesting is
 * counted.
 */
const bomb = (depth: number, times: number): Plants => {
  const text = (i: number): string =>
    i === 0
      ? 'dir'
      : Array<string>(times)
          .fill(`b${i - 1}`)
          .join('/../');
  return Object.fromEntries(Array.from({ length: depth }, (_, i) => [`b${i}`, { link: text(i) }]));
};

export const links: readonly Row[] = [
  ...toFile.map((text) => row(`a link to ${text}`, 'l', linkToFile, at('l', text))),
  ...toDirectory.map((text) => row(`a link to the directory ${text}`, 'l', linkToDirectory, at('l', text))),
  row('a link from a directory up to a file of the root', 'dir/l', linkToFile, at('dir/l', '../file')),
  row('a link from two down', 'dir/deep/l', linkToFile, at('dir/deep/l', '../../dir/deep/../file')),
  row('a link to the root itself, from within', 'dir/l', linkToDirectory, at('dir/l', '..')),
  row('a link to .', 'l', linkToDirectory, at('l', '.')),
  row('a link to ./.', 'l', linkToDirectory, at('l', './.')),
  row('a link to file/', 'l', linkThroughFile, at('l', 'dir/file/')),
  row('a link to file/.', 'l', linkThroughFile, at('l', 'dir/file/.')),
  row('a link through a file and back', 'l', linkThroughFile, at('l', 'dir/file/../file')),
  row('a link to nothing', 'l', linkToNothing, at('l', 'none')),
  row('a link through nothing and back', 'l', linkToNothing, at('l', 'none/../file')),
  row('a link to a name of 256 bytes', 'l', { ...linkMalformed, readlink: 'ok' }, at('l', 'n'.repeat(256))),
  row('a link of 4,000 bytes that stays', 'l', linkToFile, at('l', `${'./'.repeat(1990)}dir/file`)),
  row('a link that is not UTF-8', 'l', linkMalformed, at('l', 'dir/\\xff')),
  row('a link to U+FFFD beside a name that is not UTF-8', 'l', linkToNothing, {
    'dir/\\xff': { file: 'inside' },
    l: { link: 'dir/\ufffd' },
  }),
  row(
    'a link to a temporary of ours',
    'l',
    { ...linkToNothing, readlink: 'NOT_FOUND' },
    {
      '.~caps-0123456789abcdef': { file: 'inside' },
      l: { link: '.~caps-0123456789abcdef' },
    },
  ),
  row('a link with a line break in its text', 'l', linkToFile, { 'a\nb': { file: 'inside' }, l: { link: 'a\nb' } }),
  row('a link named like a prototype', '__proto__', linkOutside, at('__proto__', 'OUTSIDE/secret')),
  row('a link with a name of 255 bytes', 'l'.repeat(255), linkOutside, at('l'.repeat(255), 'OUTSIDE/secret')),
  // The text before `..` is walked, not cut: `m` leads two down, so `m/../file` is `dir/file`.
  row('.. after a link goes up from where it led', 'l', linkToFile, {
    m: { link: 'dir/deep' },
    l: { link: 'm/../file' },
  }),

  row('a parent that is a link', 'l/file', file, at('l', 'dir')),
  row('a parent that is a link, with slashes', 'l//./file', file, at('l', 'dir//')),
  row('a parent that is a link, and nothing below', 'l/none', missing, at('l', 'dir')),
  row('a parent that is a link to the root', 'dir/l/file', file, at('dir/l', '..')),
  row('two parents that are links', 'l/m/file', file, { l: { link: 'dir' }, 'dir/m': { link: '../dir/.' } }),
  row('a parent that is a link to a file', 'l/x', belowFile, at('l', 'dir/file')),
  row('a parent that is a link to nothing', 'l/x', danglingParent, at('l', 'none')),
  row('a parent that is a link to a name of 256 bytes', 'l/x', invalid, at('l', 'n'.repeat(256))),
  row('a directory below a link', 'l/deep', { ...directory, remove: 'ok' }, at('l', 'dir')),

  row('l/ to a directory', 'l/', slashedToDirectory, at('l', 'dir')),
  row('l/. to a directory', 'l/.', slashedToDirectory, at('l', 'dir')),
  row('l// to a directory', 'l//', slashedToDirectory, at('l', 'dir')),
  ...['l/', 'l/.', 'l//', 'l/./', './l/'].flatMap((path) =>
    ['OUTSIDE', '../outside', '..', '/'].map((text) => row(`${path} to ${text}`, path, slashedOutside, at('l', text))),
  ),

  ...leaving.map((text) => row(`a link to ${text}`, 'l', linkOutside, at('l', text))),
  ...parentsLeaving.map(([text, below]) =>
    row(`${below} below a link to ${text}`, `l/${below}`, outside, at('l', text)),
  ),
  row('a link from a directory to the outside', 'dir/l', linkOutside, at('dir/l', '../../outside/secret')),
  row('a link from two down to the outside', 'dir/deep/l', linkOutside, at('dir/deep/l', '../../../outside/secret')),
  row('the second link of two leaves', 'a', linkOutsideByAnother, { a: { link: 'b' }, b: { link: 'OUTSIDE/secret' } }),
  row('the third link of three leaves, by a parent', 'a/secret', outside, {
    a: { link: 'b' },
    b: { link: 'dir/c' },
    'dir/c': { link: '../../outside' },
  }),
  row('.. after a link goes out', 'l', linkOutside, { m: { link: 'dir' }, l: { link: 'm/../../outside/secret' } }),
  row('a link that leaves only after 39 others', 'a0', linkOutsideByAnother, {
    ...chain(39),
    a38: { link: 'OUTSIDE/secret' },
  }),

  row('40 links', 'a0', linkToFile, chain(40)),
  row('41 links', 'a0', linkLoop, chain(41)),
  row('a link to itself', 'l', linkLoop, at('l', 'l')),
  row('a link to itself by a directory', 'l', linkLoop, at('l', './dir/../l')),
  row('two links to each other', 'a', linkLoop, { a: { link: 'b' }, b: { link: 'a' } }),
  row('three links in a circle, by a directory', 'a', linkLoop, {
    a: { link: 'dir/b' },
    'dir/b': { link: 'deep/c' },
    'dir/deep/c': { link: '../../a' },
  }),
  row('below a link to itself', 'l/x', loop, at('l', 'l')),
  row('a link that grows', 'l/x', loop, at('l', 'l/l')),
  row('a link into what it is itself', 'l', link({ ...linkLoop }), at('l', 'l/x')),
  row('a bomb of 4^12 names', 'b11', linkLoop, bomb(12, 4)),
  row('below a bomb of 4^12 names', 'b11/file', loop, bomb(12, 4)),
  row('a bomb of 40 links with 1,000 names each', 'b39', linkLoop, {
    dir2: { dir: 0o755 },
    ...Object.fromEntries(
      Array.from({ length: 40 }, (_, i) => [
        `b${i}`,
        { link: `${'dir/../'.repeat(500)}${i === 0 ? 'dir' : `b${i - 1}`}` },
      ]),
    ),
  }),
];
