/**
 * Writes numbers as OpenMetrics text, version 1.0, which Prometheus and similar programs read.
 *
 * Promise: the text fits the grammar of the specification. All samples of a family stand together, and their names have
 * the ending that the type demands. No two samples have the same name and labels. A wrong family is a bug, and throws.
 */

/** The media type of the text. */
export const OPEN_METRICS = 'application/openmetrics-text; version=1.0.0; charset=utf-8';

/** One number, with its labels. */
interface Sample {
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number;
}

interface Common {
  /** If there is a unit, the name ends in it. The names of the samples add an ending for the type. */
  readonly name: string;
  readonly help: string;
  readonly unit?: 'seconds' | 'bytes' | 'ratio';
}

/** A metric with all its samples. */
export type Family =
  | (Common & { readonly type: 'counter' | 'gauge' | 'info'; readonly samples: readonly Sample[] })
  | (Common & { readonly type: 'histogram'; readonly samples: Histogram });

/** Each `count` of `within` is the number of values of at most `bound`. It includes the counts of all lower bounds. */
interface Histogram {
  readonly within: readonly { readonly bound: number; readonly count: number }[];
  readonly count: number;
  readonly sum: number;
}

/** The ending of the sample names of each type. */
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

/** Collectors compare bounds as texts, so the specification demands one way to write each. */
const boundText = (bound: number): string => (Number.isInteger(bound) ? `${bound}.0` : String(bound));

function numberText(value: number): string {
  if (Number.isFinite(value)) return String(value);
  return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf';
}

const escaped = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"');
