/** The end of a verb's `--help`: examples, the shape of `--json`, exit codes. */
import type { Verb } from './verb.ts';

/** Returns the lines that follow the options in the help of a verb. */
export function helpAfter({ examples, json, codes }: Verb): string {
  const all: Readonly<Record<string, string>> = { 0: 'done', ...codes, 2: 'the command line is wrong' };
  return [
    '',
    examples.length === 1 ? 'Example:' : 'Examples:',
    ...examples.map((line) => `  ${line}`),
    ...(json === undefined ? [] : ['', '--json prints:', ...json.split('\n').map((line) => `  ${line}`)]),
    '',
    'Exit codes:',
    ...Object.entries(all).map(([code, means]) => `  ${code}  ${means}`),
  ].join('\n');
}
