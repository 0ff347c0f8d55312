/** Where a program sees a directory. */
import type { Directory } from '@hob/manifest';

export const mountPoint = ({ root, path }: Directory): string => `/${path === '' ? root : `${root}/${path}`}`;
