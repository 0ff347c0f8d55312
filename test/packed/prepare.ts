/** Packs and installs the packages before the first test needs them. Else several tests wait for one of them to do it. */
import { installed } from './installed.ts';

(await installed())?.remove();
