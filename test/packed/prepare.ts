/**
 * Packs and installs the packages before the first test needs them. Otherwise several tests would wait until one of
 * them has done it. If a folder is given, this copies the installed packages into it.
 */
import { installed } from './installed.ts';

const [into] = process.argv.slice(2);
const found = await installed(into);
if (into === undefined) found?.remove();
