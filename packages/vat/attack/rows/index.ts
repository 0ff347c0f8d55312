/** The whole table. */
import type { Attack } from '../attack.ts';
import { authority } from './authority.ts';
import { cost } from './cost.ts';
import { forms } from './forms.ts';
import { keeping } from './keeping.ts';
import { sockets } from './sockets.ts';

export const attacks: readonly Attack[] = [...forms, ...authority, ...cost, ...keeping, ...sockets];
