/** Things that are neither file, directory nor link, or have more than one name or place. */
import {
  belowFile,
  changingAll,
  directory,
  type ExpectedCodes,
  file,
  linkOutsideByAnother,
  linkToDirectory,
  linkToSpecial,
  listingAll,
  missing,
  noLinkName,
  outcomes,
  outside,
  type Row,
  readingAll,
  row,
  special,
} from '../row.ts';

const specialSlashed = outcomes('NOT_A_DIRECTORY', {
  ...noLinkName,
  writeParents: 'IS_A_DIRECTORY',
  copyTreeTo: 'EXISTS',
  edit: 'NOT_A_FILE',
  write: 'IS_A_DIRECTORY',
  openWrite: 'IS_A_DIRECTORY',
  append: 'IS_A_DIRECTORY',
  copyTo: 'IS_A_DIRECTORY',
  mkdir: 'EXISTS',
});

const things = [
  ['a FIFO', 'fifo', undefined],
  ['a socket', 'socket', undefined],
  ['the device null', { device: ['c', 1, 3] }, 'root'],
  ['the device zero', { device: ['c', 1, 5] }, 'root'],
  ['the device tty', { device: ['c', 5, 0] }, 'root'],
  ['a block device', { device: ['b', 7, 250] }, 'root'],
] as const;

/** Two names: a change in place would change the file under the other name, too. */
const hard: ExpectedCodes = {
  ...file,
  append: 'NOT_A_FILE',
  writeAt: 'NOT_A_FILE',
  truncate: 'NOT_A_FILE',
  chmod: 'NOT_A_FILE',
  setTimes: 'NOT_A_FILE',
};

/**
 * A place where something else is mounted: outside for all that looks at it or beneath it; its name is busy.
 */
const mountPoint = outcomes('RESOLVED_OUTSIDE', {
  mkdir: 'EXISTS',
  copyTo: 'EXISTS',
  renameTo: 'EXISTS',
  symlink: 'EXISTS',
  copyTreeTo: 'EXISTS',
  write: 'IS_A_DIRECTORY',
  writeParents: 'IS_A_DIRECTORY',
  openWrite: 'IS_A_DIRECTORY',
  renameFrom: 'BUSY',
  renameOver: 'IS_A_DIRECTORY',
  renameOverFrom: 'NOT_A_DIRECTORY',
  readlink: 'invalid',
  remove: 'BUSY',
});
const mountedFile: ExpectedCodes = {
  ...mountPoint,
  ...listingAll('NOT_A_DIRECTORY'),
  write: 'BUSY',
  writeParents: 'BUSY',
  openWrite: 'BUSY',
  renameFrom: 'RESOLVED_OUTSIDE',
  renameOver: 'BUSY',
  renameOverFrom: 'BUSY',
  removeAll: 'BUSY',
  mkdirs: 'NOT_A_DIRECTORY',
};
const mounts = { player: 'mounts' } as const;

const denied = outcomes('NOT_PERMITTED');
const nonroot = { player: 'nonroot' } as const;
const root = { player: 'root' } as const;
const stranger = 12_345;
const another = 12_346;

export const objects: readonly Row[] = [
  ...things.flatMap(([name, thing, player]) => {
    const more = player === undefined ? {} : { player };
    return [
      row(name, 's', special, { s: thing }, more),
      row(`${name}, by a link`, 'l', linkToSpecial, { s: thing, l: { link: 's' } }, more),
      row(`${name} with a slash`, 's/', specialSlashed, { s: thing }, more),
      row(`below ${name}`, 's/x', belowFile, { s: thing }, more),
    ];
  }),

  row('a file with two names', 'hard', hard, { hard: { hard: 'ROOT/file' } }),
  row(
    'a file with a name outside',
    'hard',
    { ...hard, edit: 'NO_MATCH' },
    { hard: { hard: 'OUTSIDE/secret' } },
    { mayReadOutside: true },
  ),
  row(
    'a link to a file with two names',
    'l',
    { ...linkToSpecial, ...hardLinkTarget() },
    {
      hard: { hard: 'ROOT/file' },
      l: { link: 'hard' },
    },
  ),

  row('U+FFFD is no other spelling of a name that is not UTF-8', '\ufffd', missing, { '\\xff': { file: 'inside' } }),
  row(
    'a directory with names that are not UTF-8',
    'odd',
    { ...directory, copyTreeFrom: 'UNSUPPORTED' },
    {
      'odd/\\xff': { file: 'inside' },
      'odd/\\xc0\\xae\\xc0\\xae': { file: 'inside' },
      'odd/\\xed\\xa0\\x80': { file: 'inside' },
    },
  ),
  row('overlong dots are no ..', '\u00c0\u00ae\u00c0\u00ae', missing, { '\\xc0\\xae\\xc0\\xae': { file: 'inside' } }),

  row('a mounted file system', 'm', mountPoint, { m: 'tmpfs' }, mounts),
  row('a mounted file system/', 'm/', { ...mountPoint, ...slashed() }, { m: 'tmpfs' }, mounts),
  row('beneath a mounted file system', 'm/x', outside, { m: 'tmpfs' }, mounts),
  row('two beneath a mounted file system', 'm/x/y', outside, { m: 'tmpfs' }, mounts),
  row('a bind mount of the outside', 'm', mountPoint, { m: { bind: 'OUTSIDE' } }, mounts),
  row('a file beneath a bind mount of the outside', 'm/secret', outside, { m: { bind: 'OUTSIDE' } }, mounts),
  row('nothing beneath a bind mount of the outside', 'm/none', outside, { m: { bind: 'OUTSIDE' } }, mounts),
  row('a bind mount of a file of the outside', 'm', mountedFile, { m: { bind: 'OUTSIDE/secret' } }, mounts),
  row('a bind mount of the root beneath itself', 'm', mountPoint, { m: { bind: 'ROOT' } }, mounts),
  row('a file beneath a bind mount of the root', 'm/file', outside, { m: { bind: 'ROOT' } }, mounts),
  row('a bind mount of an inner directory', 'm/file', outside, { m: { bind: 'ROOT/dir' } }, mounts),
  row('a bind mount of /proc', 'm/self/cwd', outside, { m: { bind: '/proc' } }, mounts),
  row('the root of a bind mount of /proc', 'm/self/root/etc/passwd', outside, { m: { bind: '/proc' } }, mounts),
  row('a link to a mount', 'l', linkOutsideByAnother, { m: { bind: 'OUTSIDE' }, l: { link: 'm' } }, mounts),
  row('beneath a link to a mount', 'l/secret', outside, { m: { bind: 'OUTSIDE' }, l: { link: 'm' } }, mounts),
  row('through a mount and back', 'l', linkToDirectory, { m: { bind: 'OUTSIDE' }, l: { link: 'm/../dir' } }, mounts),
  row(
    'a directory with a mount beneath it',
    'd',
    { ...directory, removeAll: 'RESOLVED_OUTSIDE', copyTreeFrom: 'RESOLVED_OUTSIDE' },
    {
      'd/m': { bind: 'OUTSIDE' },
    },
    mounts,
  ),

  row(
    'a stranger’s link in a sticky directory for all',
    'tmp/l',
    stickyLink(),
    {
      tmp: { dir: 0o1777 },
      'tmp/l': { link: '../file', owner: stranger },
    },
    root,
  ),
  row(
    'below a stranger’s link in a sticky directory',
    'tmp/l/file',
    denied,
    {
      tmp: { dir: 0o1777 },
      'tmp/l': { link: '../dir', owner: stranger },
    },
    root,
  ),
  row(
    'a stranger’s link in another’s sticky directory',
    'tmp/l/file',
    denied,
    {
      tmp: { dir: 0o1777, owner: another },
      'tmp/l': { link: '../dir', owner: stranger },
    },
    root,
  ),
  row(
    'a link of the sticky directory’s owner',
    'tmp/l/file',
    file,
    {
      tmp: { dir: 0o1777, owner: another },
      'tmp/l': { link: '../dir', owner: another },
    },
    root,
  ),
  row(
    'a link of ours in a sticky directory',
    'tmp/l/file',
    file,
    {
      tmp: { dir: 0o1777 },
      'tmp/l': { link: '../dir' },
    },
    root,
  ),
  row(
    'a stranger’s link where only the owner writes',
    'tmp/l/file',
    file,
    {
      tmp: { dir: 0o755 },
      'tmp/l': { link: '../dir', owner: stranger },
    },
    root,
  ),

  row('a file that may not be read', 'closed', unreadable(), { closed: { file: 'inside', mode: 0o000 } }, nonroot),
  row('beneath a directory that may not be entered', 'closed/x', denied, { closed: { dir: 0o000 } }, nonroot),
  row('beneath a directory that may only be listed', 'closed/x', denied, { closed: { dir: 0o400 } }, nonroot),
  row('a new name where nothing may be made', 'closed/x', unwritable(), { closed: { dir: 0o500 } }, nonroot),
  row('a directory that may not be listed', 'closed', unlistable(), { closed: { dir: 0o300 } }, nonroot),
];

function hardLinkTarget() {
  return { ...readingAll('ok'), copyTreeFrom: 'ok' } as const;
}

function directoryOutcomes() {
  const notFile = 'IS_A_DIRECTORY' as const;
  return {
    ...readingAll(notFile),
    ...changingAll(notFile),
    copyTo: 'EXISTS',
    renameTo: 'EXISTS',
    mkdir: 'EXISTS',
    symlink: 'EXISTS',
    copyTreeTo: 'EXISTS',
    readlink: 'invalid',
    renameOver: notFile,
    renameOverFrom: 'NOT_A_DIRECTORY',
    remove: 'NOT_EMPTY',
  } as const;
}

function slashed() {
  return {
    ...noLinkName,
    write: 'IS_A_DIRECTORY',
    openWrite: 'IS_A_DIRECTORY',
    append: 'IS_A_DIRECTORY',
    copyTo: 'IS_A_DIRECTORY',
    renameTo: 'NOT_A_DIRECTORY',
    renameOver: 'NOT_A_DIRECTORY',
  } as const;
}

function stickyLink(): ExpectedCodes {
  const no = 'NOT_PERMITTED' as const;
  return {
    ...linkToSpecial,
    ...readingAll(no),
    ...listingAll(no),
    statFollow: no,
    copyTreeFrom: no,
    mkdirs: no,
  };
}

function unreadable(): ExpectedCodes {
  const no = 'NOT_PERMITTED' as const;
  return { ...file, ...readingAll(no), copyTreeFrom: no, edit: no, append: no, writeAt: no, truncate: no };
}

function unwritable(): ExpectedCodes {
  const no = 'NOT_PERMITTED' as const;
  return {
    ...missing,
    write: no,
    writeParents: no,
    openWrite: no,
    append: no,
    copyTo: no,
    copyTreeTo: no,
    renameTo: no,
    renameOver: no,
    mkdir: no,
    mkdirs: no,
    symlink: no,
  };
}

function unlistable(): ExpectedCodes {
  const no = 'NOT_PERMITTED' as const;
  return outcomes('ok', {
    ...directoryOutcomes(),
    // The host's user owns it, so a removal may open it for itself.
    remove: 'ok',
    ...listingAll(no),
    copyTreeFrom: no,
    search: no,
  });
}
