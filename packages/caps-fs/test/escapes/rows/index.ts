/** The threat model as one table: each row is played with each operation. */
import type { Row } from '../row.ts';
import { excepted } from './excepted.ts';
import { grammar } from './grammar.ts';
import { held } from './held.ts';
import { links } from './links.ts';
import { objects } from './objects.ts';
import { plain } from './plain.ts';

export const rows: readonly Row[] = [...plain, ...grammar, ...links, ...objects, ...held, ...excepted];
