/**
 * Numbers as OpenMetrics text, version 1.0, which Prometheus and its kin read.
 *
 * Promise: the text fits the grammar of the specification. A family is written once and whole, the names of its samples
 * end as its type wants them, and no two samples have the same name and labels. A mistake in a family is a bug, and throws.
 */

/** The media type of the text. */
export const OPEN_METRICS = 'application/openmetrics-text; version=1.0.0; charset=utf-8';

/** One number, or a histogram. */
interface Sample {
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number;
}

interface Common {
  /** Without the ending of a sample. It ends in the unit. */
  readonly name: string;
  readonly help: string;
  readonly unit?: 'seconds' | 'bytes' | 'ratio';
}

/** What is measured, with all its samples. */
export type Family =
  | (Common & { readonly type: 'counter' | 'gauge' | 'info'; readonly samples: readonly Sample[] })
  | (Common & { readonly type: 'histogram'; readonly samples: Histogram });

/** `within` counts what was at most so much, and so holds the counts of all lower bounds, too. */
interface Histogram {
  readonly within: readonly { readonly bound: number; readonly count: number }[];
  readonly count: number;
  readonly sum: number;
}

/** The ending of a sample of each type. */
const ENDINGS = { counter: '_total', gauge: '', info: '_info' } as const;

/** Returns the whole text. */
export function openMetrics(families: readonly Family[]): string {
  const names = families.map(({ name }) => name);
  if (new Set(names).size !== names.length) throw new Error('two families of one name');
  return `${families.flatMap(linesOf).join('')}# EOF\n`;
}

function linesOf(family: Family): readonly string[] {
  const { name, type, unit, help } = family;
  if (!/^[a-z][a-z0-9_]*$/.test(name) || (unit !== undefined && !name.endsWith(`_${unit}`)))
    throw new Error(`${name} is no name of a family, or does not end in its unit`);
  const samples =
    family.type === 'histogram'
      ? histogramLines(name, family.samples)
      : family.samples.map((sample) => sampleLine(`${name}${ENDINGS[family.type]}`, sample));
  if (new Set(samples.map((line) => line.slice(0, line.lastIndexOf(' ')))).size !== samples.length)
    throw new Error(`two samples of ${name} have the same labels`);
  return [
    `# TYPE ${name} ${type}\n`,
    ...(unit === undefined ? [] : [`# UNIT ${name} ${unit}\n`]),
    `# HELP ${name} ${escaped(help)}\n`,
    ...samples,
  ];
}

function sampleLine(name: string, { labels = {}, value }: Sample): string {
  const pairs = Object.entries(labels).map(([label, text]) => {
    if (!/^[a-z][a-z0-9_]*$/.test(label)) throw new Error(`${label} is no name of a label`);
    return `${label}="${escaped(text)}"`;
  });
  return `${name}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${numberText(value)}\n`;
}

const histogramLines = (name: string, { within, count, sum }: Histogram): readonly string[] => [
  ...within.map((each) => sampleLine(`${name}_bucket`, { labels: { le: boundText(each.bound) }, value: each.count })),
  sampleLine(`${name}_bucket`, { labels: { le: '+Inf' }, value: count }),
  sampleLine(`${name}_count`, { value: count }),
  sampleLine(`${name}_sum`, { value: sum }),
];

/** Bounds are compared as texts, so the specification has one text for each. */
const boundText = (bound: number): string => (Number.isInteger(bound) ? `${bound}.0` : String(bound));

function numberText(value: number): string {
  if (Number.isFinite(value)) return String(value);
  return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf';
}

const escaped = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"');
