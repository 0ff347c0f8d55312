/** All cells of the attack. */
import type { Cell } from '../cell.ts';
import { changing } from './changing.ts';
import { looking } from './looking.ts';
import { many } from './many.ts';
import { names } from './names.ts';

export const cells: readonly Cell[] = [...looking, ...changing, ...names, ...many];
