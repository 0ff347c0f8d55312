/**
 * What differs between any two runs of the same command, and says nothing about the worlds: times, names of temporary
 * files, and numbers of processes where the command asks for them.
 */

const MASKS: readonly (readonly [pattern: RegExp, shown: string])[] = [
  // 2026-11-27T13:24:55.123Z, 2026-11-27 13:24:55 +0000, Fri Nov 27 13:24:55 UTC 2026, Nov 27 13:24
  [/\b\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?: ?(?:Z|[+-]\d{2}:?\d{2}))?)?/g, '<time>'],
  [/\b(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? )?(?:\d{1,2} )?(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)(?: +\d{1,2})?(?:,? \d{4})? +\d{1,2}:\d{2}(?::\d{2})?(?: [AP]M)?(?: [A-Z]{3,4})?(?: \d{4})?/g, '<time>'],
  [/\b\d{1,2}:\d{2}:\d{2}(?:[.,]\d+)?\b/g, '<time>'],
  // `time`, and seconds since 1970, with their parts.
  [/\b\d+m\d+[.,]\d+s\b/g, '<time>'],
  [/(?<![\w.])1[5-9]\d{8}(?:\.\d+|\d{3}|\d{6}|\d{9})?(?![\w.])/g, '<time>'],
  // mktemp, Python's tempfile, and mkstemp with a prefix that ends in a point or a dash.
  [/\btmp\.[A-Za-z0-9]{6,12}\b/g, '<temporary>'],
  [/\btmp[a-z0-9_]{8}\b/g, '<temporary>'],
  [/(?<=\/tmp\/[\w-]{0,40}[.-])[A-Za-z0-9]{6}\b(?<=[A-Z0-9]\w*)/g, '<temporary>'],
]; // biome-ignore format: a table

/** Whether commands may tell numbers of processes. */
const TELLS_PIDS =
  /\$\$|\$!|\$\{?(?:PPID|BASHPID)\b|\bps\b|\bpgrep\b|\bpidof\b|\bjobs\b|\btop\b|\/proc\b|getpid|getppid|\bpid\b|&\s*$/m;

/** The text of an output, with these masked. `steps` are the commands that wrote it. */
export function masked(text: string, steps: readonly string[]): string {
  const shown = MASKS.reduce((so, [pattern, mask]) => so.replaceAll(pattern, mask), text);
  return steps.some((step) => TELLS_PIDS.test(step)) ? shown.replaceAll(/(?<![\w.])\d{1,7}(?![\w.])/g, '<pid>') : shown;
}
