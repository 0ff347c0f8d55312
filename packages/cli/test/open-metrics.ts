/**
 * Checks OpenMetrics text in tests, by the grammar (ABNF) of the specification, version 1.0, and by its rules about
 * families. It knows the types that Hob writes, and neither timestamps nor exemplars.
 */

const NUMBER = String.raw`[+-]?(?:\d+(?:\.\d*)?(?:e[+-]?\d+)?|\.\d+(?:e[+-]?\d+)?|inf(?:inity)?|nan)`;
const ESCAPED = String.raw`(?:[^\n"\\]|\\[^\n])*`;
const LABEL = `[A-Za-z_][A-Za-z0-9_]*="${ESCAPED}"`;
const NAME = '[A-Za-z_:][A-Za-z0-9_:]*';
const TYPES = ['counter', 'gauge', 'histogram', 'info'];

const descriptor = new RegExp(`^# (TYPE|UNIT|HELP) (${NAME}) (${ESCAPED})$`);
const sample = new RegExp(`^(${NAME})(\\{(?:${LABEL}(?:,${LABEL})*)?\\})? (${NUMBER})$`, 'i');
const ENDINGS: Readonly<Record<string, readonly string[]>> = {
  counter: ['_total'],
  gauge: [''],
  histogram: ['_bucket', '_count', '_sum'],
  info: ['_info'],
};

/** Returns the first fault of the text by the specification; undefined if it has none. */
export function faultOf(text: string): string | undefined {
  if (!text.endsWith('# EOF\n')) return 'it does not end with # EOF';
  const lines = text.slice(0, -'# EOF\n'.length).split('\n').slice(0, -1);
  const seen = new Set<string>();
  let family = { name: '', type: '', said: new Set<string>() };
  for (const line of lines) {
    const told = descriptor.exec(line);
    if (told !== null) {
      const [, what = '', name = '', rest = ''] = told;
      if (what === 'TYPE') {
        if (seen.has(`family ${name}`)) return `the family ${name} is there twice`;
        if (!TYPES.includes(rest)) return `${rest} is no type`;
        seen.add(`family ${name}`);
        family = { name, type: rest, said: new Set() };
      } else if (name !== family.name || family.said.has(what)) return `${line} stands at the wrong place`;
      if (what === 'UNIT' && !name.endsWith(`_${rest}`)) return `${name} does not end in its unit`;
      family.said.add(what);
      continue;
    }
    const [, name = '', labels = ''] = sample.exec(line) ?? [];
    if (name === '') return `no line of the grammar: ${line}`;
    if (!ENDINGS[family.type]?.some((ending) => name === `${family.name}${ending}`))
      return `${name} is no sample of the ${family.type} ${family.name}`;
    if (seen.has(name + labels)) return `${name}${labels} is there twice`;
    seen.add(name + labels);
  }
  return undefined;
}

/** Returns the value of a sample; undefined if it is not there. */
export function valueIn(text: string, name: string): number | undefined {
  const line = text.split('\n').find((each) => each.startsWith(`${name} `));
  return line === undefined ? undefined : Number(line.slice(name.length + 1));
}
