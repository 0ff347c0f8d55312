/**
 * Packs and installs the packages before the first test needs them. Else several tests wait for one of them to do it. If
 * a folder is given, it gets a copy of what was installed.
 */
import { installed } from './installed.ts';

const [into] = process.argv.slice(2);
const found = await installed(into);
if (into === undefined) found?.remove();
