/** Modules joined into one script: what they export, when they run, and which forms are refused. */
import vm from 'node:vm';
import { expect, test } from 'vitest';
import { joined } from './join.ts';

/** Runs the modules `entries` of these files; `say` is a parameter of the script. */
function run(files: Readonly<Record<string, string>>, entries: readonly string[] = ['entry']): unknown[] {
  const said: unknown[] = [];
  const script = joined(entries, {
    textOf: (file) => files[file] ?? '',
    resolve: (specifier) => specifier.replace('./', ''),
    parameters: ['require', 'say'],
  });
  const made = vm.runInThisContext(script) as (require: unknown, say: unknown) => void;
  made(
    (name: string) => process.getBuiltinModule(name),
    (x: unknown) => said.push(x),
  );
  return said;
}

test('each module runs once, after the modules that it imports, and sees their exports as a real module does', () => {
  const said = run({
    entry: `import './first';
import path from 'node:path';
import { basename } from 'node:path';
import {
  one, Two as Renamed,
  three,
} from './names';
import { count, add } from './counter';
import * as all from './names';
import * as counter from './counter';
import { parse } from 'acorn';
say([path.basename('a/b'), basename('c/d')].join());
say([one, new Renamed().n, three(), all.four].join());
add(); say(count); add(); say([count, counter.count]);
say(parse());`,
    first: `say('first');`,
    names: `export const one = 1;\nexport class Two { n = 2 }\nexport async function later() {}\nexport function three() { return 3 }
const inner = 4;\nexport { inner as four };\nexport * from './more';\nexport { six as seven } from './more';`,
    more: `import './first';\nexport const five = 5;\nexport const six = 6;`,
    counter: `export let count = 0;\nexport const add = () => { count += 1 };`,
    acorn: `/*\nimport this from 'nowhere'\n*/\nconst parse = () => 'é→';\nexport { parse };`,
  });
  expect(said).toEqual(['first', 'b,d', '1,2,3,4', 1, [2, 2], 'é→']);
});

test('the first entry runs before everything that the second one imports', () => {
  const files = {
    lock: `import './ses';\nsay('lock');`,
    ses: `say('ses');`,
    entry: `import './other';\nimport './lock';\nsay('entry');`,
    other: `say('other');`,
  };
  expect(run(files, ['lock', 'entry'])).toEqual(['ses', 'lock', 'other', 'entry']);
});

test('an export of a packed module that changes later is seen to change', () => {
  const said = run({
    entry: `import {\n  made,\n  count,\n  renamed as other,\n  text\n} from "./packed";\nmade(); say([count, other, text]);`,
    packed: `var text = \`\n//# sourceURL=a\`;\nvar count = 0;\nvar own = 2;\nvar made = () => {\n  count = count + 1;\n};\nexport {\n  made,\n  count,\n  own as renamed,\n  text\n};`,
  });
  expect(said).toEqual([[1, 2, '\n//# sourceURL=a']]);
});

test('a module that cannot be joined is refused by name', () => {
  for (const [text, why] of [
    ['export default 1', /entry: this import or export cannot be joined: export default 1/],
    ["import a, { b } from './other'", /cannot be joined/],
    [`import './entry'`, /entry imports itself/],
    [`import { a } from './one'; \nimport { a as b } from './two'`, /two: another module exports a variable a/],
    [`export * from './one'`, /entry: it passes on a variable of/],
    [`import { a as b } from './one'`, /variable a .*by its name/],
  ] as const)
    expect(() => run({ entry: text, one: 'export let a = 1;', two: 'export let a = 2;' })).toThrowError(why);
});
