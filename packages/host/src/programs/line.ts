/** How a program reads its command line and writes to a terminal. It loads nothing of a host. */
export { drawScreen, enterScreen, leaveScreen, out, outJson, outText, say, sayText } from '../drivers/terminal.ts';
export { terminalLine } from '../text/safe-text.ts';
export { version } from '../version.ts';
export { count, given, newCommand, once, showUsage } from './read-line.ts';
