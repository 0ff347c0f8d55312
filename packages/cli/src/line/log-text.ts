/**
 * Text for the log of a daemon.
 *
 * Promise: a line of it has no secret of Hob and no folder of this machine: of a path its last name is left. It has no
 * character that a terminal would obey, and at most 2,000 letters.
 */
import { terminalLine } from '@hob/host/line';

const MOST = 2_000;
/** A path in quotes or brackets, as errors and stacks have it. It may hold blanks. */
const QUOTED_PATH = /(['"“‘`(])(?:file:\/\/)?\/[^'"”’`)\n]*(?=['"”’`)])/g;
/** The folders of a path. A text that begins with `//` is an address. */
const FOLDERS = /(?<![\w.~:/@-])(?:file:\/\/)?\/(?:[^\s:'"()/]+\/)+/g;
const SECRET = /hob1_[\w-]+/g;

/** The lines of the log for a text, such as an error with its stack. */
export const logLines = (text: string): readonly string[] =>
  text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const safe = terminalLine(
        line
          .slice(0, 4 * MOST)
          .replaceAll(SECRET, '(secret)')
          .replaceAll(QUOTED_PATH, (path) => `${path[0]}…/${path.slice(path.lastIndexOf('/') + 1)}`)
          .replaceAll(FOLDERS, '…/'),
      );
      return safe.length > MOST ? `${safe.slice(0, MOST)}…` : safe;
    });
