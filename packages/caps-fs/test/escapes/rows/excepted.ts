/**
 * Names that an `except` hides: by every way of naming one, it is neither reached nor shown. Their
 * content is as secret as the outside.
 */
import type { FsCap } from '../../../src/index.ts';
import {
  directory,
  type ExpectedCodes,
  file,
  link,
  listingAll,
  missing,
  noLinkName,
  outcomes,
  type Row,
  readingAll,
  row,
} from '../row.ts';
import { OUTSIDE_NAME, type Plants, SECRET } from '../world.ts';

const hide = (root: FsCap): Promise<FsCap> => root.except(['.env*', '.git', OUTSIDE_NAME]);
const cap = { cap: hide };
/** Not by its last name, whether or not there is anything, and not by one on the way. */
const hidden = outcomes('NOT_PERMITTED');
/** An operation on a file refuses any name that says directory, hidden or not. */
const hiddenDirectory: ExpectedCodes = {
  ...hidden,
  write: 'IS_A_DIRECTORY',
  writeParents: 'IS_A_DIRECTORY',
  openWrite: 'IS_A_DIRECTORY',
  append: 'IS_A_DIRECTORY',
  copyTo: 'IS_A_DIRECTORY',
  renameTo: 'NOT_A_DIRECTORY',
  renameOver: 'NOT_A_DIRECTORY',
  ...noLinkName,
};
/** The last name is a link to it: the link is the holder's, what it leads to is not. */
const linkToHidden = link({
  ...readingAll('NOT_PERMITTED'),
  ...listingAll('NOT_PERMITTED'),
  statFollow: 'NOT_PERMITTED',
  copyTreeFrom: 'NOT_PERMITTED',
  readlink: 'NOT_PERMITTED',
  mkdirs: 'NOT_PERMITTED',
});
const holdsHidden: ExpectedCodes = { ...directory, removeAll: 'NOT_PERMITTED' };

const plants: Plants = {
  '.env': { file: SECRET },
  [OUTSIDE_NAME]: { file: SECRET },
  'dir/.git/config': { file: SECRET },
  'dir/.git/deep/x': { file: SECRET },
  'dir/deep/.env.local': { file: SECRET },
  [`dir/${OUTSIDE_NAME}`]: { file: SECRET },
};
const at = (name: string, text: string): Plants => ({ ...plants, [name]: { link: text } });

export const excepted: readonly Row[] = [
  row('an excepted file', '.env', hidden, plants, cap),
  row('an excepted file in a directory', 'dir/deep/.env.local', hidden, plants, cap),
  row('an excepted directory', 'dir/.git', hidden, plants, cap),
  row('an excepted directory/', 'dir/.git/', hiddenDirectory, plants, cap),
  row('beneath an excepted directory', 'dir/.git/config', hidden, plants, cap),
  row('deep beneath an excepted directory', 'dir/.git/deep/x', hidden, plants, cap),
  row('an excepted name that is not there', '.env.none', hidden, plants, cap),
  row('beneath an excepted name that is not there', '.env.none/x', hidden, plants, cap),
  row('an excepted name in another case', '.ENV', hidden, plants, cap),
  row('an excepted name with what nobody sees', '.e\u200dnv', hidden, plants, cap),
  row('an excepted name on the way, in another case', 'dir/.GIT/config', hidden, plants, cap),
  row('a link to an excepted file', 'l', linkToHidden, at('l', '.env'), cap),
  row('a link to an excepted directory', 'l', linkToHidden, at('l', 'dir/.git'), cap),
  row('a link to an excepted name that is not there', 'l', linkToHidden, at('l', '.env.none'), cap),
  row('a link through an excepted name and back', 'l', linkToHidden, at('l', 'dir/.git/../file'), cap),
  row(
    'a link to a link to an excepted file',
    'l',
    { ...linkToHidden, readlink: 'ok' },
    { ...at('l', 'm'), m: { link: '.env' } },
    cap,
  ),
  row('beneath a link to an excepted directory', 'l/config', hidden, at('l', 'dir/.git'), cap),
  row('an excepted name that is a link to what is not', '.env2', hidden, at('.env2', 'file'), cap),
  row('beneath an excepted link', '.env2/file', hidden, at('.env2', 'dir'), cap),
  row('a directory with excepted names in it', 'dir', holdsHidden, plants, cap),
  row('a directory with an excepted name deep in it', 'dir/deep', holdsHidden, plants, cap),
  row('a directory with excepted names, by a link', 'l/deep', holdsHidden, at('l', 'dir'), cap),
  row('another name beside excepted ones', 'dir/file', file, plants, cap),
  row('nothing beside excepted ones', 'env', missing, plants, cap),
  row(
    'what only begins like an excepted name',
    '.gitignore',
    file,
    { ...plants, '.gitignore': { file: 'inside' } },
    cap,
  ),
  row('an excepted name from a subdirectory', '.git/config', hidden, plants, {
    cap: async (root) => await (await hide(root)).subdir('dir'),
  }),
  row('an excepted name from a subdirectory made before', '.git/config', hidden, plants, {
    cap: async (root) => await hide(await root.subdir('dir')),
  }),
  row('a name excepted before another was', '.env', hidden, plants, {
    cap: async (root) => await (await hide(root)).except(['x']),
  }),
];
