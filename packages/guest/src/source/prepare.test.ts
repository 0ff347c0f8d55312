/**
 * A program's values are what its source says, whatever text is in it; what no guest can do is refused with
 * the line.
 */
import 'ses';
import { runInThisContext } from 'node:vm';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { anyCharacter } from '../../../../test/any-character.ts';
import type { Position } from './position.ts';
import { prepare } from './prepare.ts';

/** Runs a program as a guest does, without the guest. */
const run = async (source: string, globals: object = {}): Promise<unknown> => {
  const { code } = prepare(source);
  const compartment = new Compartment({ globals, __options__: true } as never);
  return (compartment.evaluate(code) as () => Promise<unknown>)();
};
/** The value of the same expression without us. */
const plainly = (expression: string): unknown => runInThisContext(expression);

const refusedAs = (source: string): string => {
  try {
    prepare(source);
  } catch (error) {
    expect(error).toMatchObject({ name: 'CapError' });
    return (error as Error).message;
  }
  throw new Error(`not refused: ${source}`);
};

describe('a program', () => {
  test('awaits and returns at its top level; only `return` gives a value', async () => {
    expect(await run('const x = await Promise.resolve(20);\nreturn x + 1;')).toBe(21);
    expect(await run('for await (const x of [1, 2]) if (x === 2) return x;')).toBe(2);
    expect(await run('1 + 1')).toBeUndefined();
  });

  test('has its own `this`, `arguments` and names', async () => {
    expect(await run('return [this, arguments.length, typeof hob$0]')).toEqual([undefined, 0, 'undefined']);
    expect(await run('const hob$0 = 1; return [hob$0, /import(x)/.source]')).toEqual([1, 'import(x)']);
  });

  test('may end with a comment, begin with a `#!` line, and be empty', async () => {
    expect(await run('return 1 // done')).toBe(1);
    expect(await run('#!/usr/bin/env node\nreturn 2')).toBe(2);
    expect(await run('')).toBeUndefined();
  });

  test('may carry TypeScript types', async () => {
    expect(await run('interface A { x: number }\nconst a: A = { x: 3 };\nreturn (a as any).x satisfies number;')).toBe(
      3,
    );
    expect(await run('const s = new Set<string>(["a"]); return s.size')).toBe(1);
    expect(await run('const f = <T>(x: T): T => x; return f<number>(4)')).toBe(4);
    expect(await run('type 名 = "é😀";\nconst x: 名 = "é😀"; return x')).toBe('é😀');
    // Where both can be meant, types are, as for TypeScript; two comparisons in a row can be written with
    // brackets.
    expect(await run('const a = 1, b = 2, c = 0; return (a < b) > (c)')).toBe(true);
  });

  test('cannot close a bracket that it did not open', () => {
    for (const source of ['}); evil(); (() => {', 'return 1 }, function () {', '/* ', '`', '})', '*/', '`${'])
      expect(refusedAs(source), source).toMatch(/^line 1, column \d+: /);
  });
});

/** Everything that SES refuses by its text, and what is near to it. */
const SPELLS = [
  'import(',
  'import (',
  'import\t(',
  'import/*',
  'import//',
  '.import(',
  '...import(',
  '$import(',
  'éimport(',
  'eval(',
  'eval (',
  '$eval(',
  '.eval(',
  '<!--',
  '-->',
  '<!-- import("x") -->',
  '\\import(',
  '\\\\import(',
  "import('fs')",
  '//# sourceURL=x',
  '{}`',
];

describe('text that SES refuses', () => {
  test('keeps its value in strings, templates, raw templates, regular expressions and comments', async () => {
    for (const spell of SPELLS) {
      const text = JSON.stringify(`a ${spell} b`);
      expect(await run(`return ${text}`), spell).toBe(`a ${spell} b`);
      const template = spell.replaceAll('`', '\\`');
      expect(await run(`return \`a ${template} \${1} ${template}\``), spell).toBe(
        plainly(`\`a ${template} \${1} ${template}\``),
      );
      const raw = `String.raw\`${template}\${(0, 7)}${template}\``;
      expect(await run(`return ${raw}`), spell).toBe(plainly(raw));
      expect(await run(`// ${spell}\n/* ${spell.replaceAll('*/', '')}\n*/ return 1 // ${spell}`), spell).toBe(1);
    }
    for (const regex of ['/import(x)?/', '/a<!--b-->/gu', '/[/]eval(.)/i', '/\\/import(?:a|b)/', '/\\beval (x)/']) {
      const got = (await run(`return ${regex}`)) as RegExp;
      const same = plainly(regex) as RegExp;
      expect([got.source, got.flags, String(got)]).toEqual([same.source, same.flags, String(same)]);
      expect(got).toBeInstanceOf(RegExp);
    }
  });

  test('is allowed as operators or names', async () => {
    expect(await run('let b = 3; const a = 1; const less = a<!--b; return [less, b]')).toEqual([false, 2]);
    expect(await run('let a = 1; let n = 0; while (a-->0) n++;\nreturn n')).toBe(1);
  });

  test('may be the name of a method', async () => {
    const page = { $eval: (x: number) => x + 1, import: (x: number) => x + 2, eval: (x: number) => x + 3 };
    expect(
      await run('return [page.$eval(1), page.import(1), page.eval(1), page. eval (1), page?.import /**/ (1)]', {
        page,
      }),
    ).toEqual([2, 3, 4, 4, 3]);
    expect(
      await run(
        'const o = { import(x) { return x }, eval (x) { return x }, "import": 1 ? (x) => x : 0 }; return o.eval(4)',
      ),
    ).toBe(4);
    expect(
      await run('class A { #eval(x) { return x } import(x) { return this.#eval(x) } }; return new A().import(5)'),
    ).toBe(5);
    expect(await run('const $import = (x) => x, éimport = (x) => x; return [$import(1), éimport(2)]')).toEqual([1, 2]);
  });

  test('a tag gets the same frozen object each time, and keeps its `this`', async () => {
    const source = `
      const seen = [];
      const o = { tag(strings, ...values) { seen.push(strings); return [this === o, Object.isFrozen(strings), Object.isFrozen(strings.raw), ...strings, ...strings.raw, ...values] } };
      const both = () => o.tag\`<!-- \\n \${1, 2}
        import(\${\`-->\`}\`;
      both(); const said = both();
      const Made = (s) => class { constructor(x) { this.x = x + s[0] } };
      return [said, seen[0] === seen[1], new Made\`eval(\`('x').x, new (Made\`eval(\`)('y').x, (s => s)\`\\u import(\`[0]];`;
    const [said, same, x, y, uncooked] = (await run(source)) as unknown[];
    expect(said).toEqual([
      true,
      true,
      true,
      '<!-- \n ',
      '\n        import(',
      '',
      '<!-- \\n ',
      '\n        import(',
      '',
      2,
      '-->',
    ]);
    expect([same, x, y, uncooked]).toEqual([true, 'xeval(', 'yeval(', undefined]);
  });

  test('a regular expression is a new object each time, like a literal', async () => {
    expect(
      await run(
        'const f = () => /import(x)/g; return [f() !== f(), typeof/import(x)/, new /import(x)/.constructor("a").source]',
      ),
    ).toEqual([true, 'object', 'a']);
  });

  test('every string, template and regular expression keeps its value', async () => {
    const piece = fc.oneof(
      fc.constantFrom(...SPELLS, '\n', '\\', '\u2028', '"', "'", '`', '${', '\r\n'),
      fc.string({ unit: anyCharacter, maxLength: 4 }),
    );
    const text = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join(''));
    await fc.assert(
      fc.asyncProperty(text, async (value) => {
        const single = `'${value.replace(/[\\'\n\r]/g, (c) => ({ '\n': '\\n', '\r': '\\r' })[c] ?? `\\${c}`)}'`;
        const template = `\`${value.replace(/[\\`]|\$\{/g, (c) => `\\${c}`)}\``;
        const raw = `String.raw\`${value.replace(/\\|`|\$\{/g, '')}\``;
        for (const expression of [JSON.stringify(value), single, template, raw])
          expect(await run(`return ${expression}`)).toBe(plainly(expression));
        const pattern = value
          .replace(/[\\/[\]\n\r\u2028\u2029(){}?*+^$|]/g, '\\$&')
          .replace(/\\[\n\r\u2028\u2029]/g, '.');
        const regex = pattern === '' || pattern.startsWith('*') ? '/x/' : `/${pattern}(<!--)?/`;
        expect(((await run(`return ${regex}`)) as RegExp).source).toBe((plainly(regex) as RegExp).source);
      }),
      { numRuns: 150 },
    );
  });
});

describe('places', () => {
  /** Where the program's code says that it is, by its stack, and where that is in the source. */
  const placeOf = async (source: string): Promise<Position> => {
    const { code, where } = prepare(source);
    const error = (await (
      new Compartment({ globals: {}, __options__: true } as never).evaluate(code) as () => Promise<unknown>
    )().catch((thrown) => thrown)) as Error;
    const [, line, column] = /<anonymous>:(\d+):(\d+)/.exec(error.stack ?? '') ?? [];
    return where(Number(line), Number(column));
  };

  test('map back to the line and column of the model after any rewriting', async () => {
    expect(await placeOf('throw new Error("x")')).toEqual({ line: 1, column: 7 });
    expect(await placeOf('const a = "<!--"; throw new Error("x")')).toEqual({ line: 1, column: 25 });
    expect(await placeOf('const a: number = 1;\n  const b = /import(x)/; throw new Error(b)')).toEqual({
      line: 2,
      column: 32,
    });
    expect(await placeOf('String.raw`\n<!--${1}\n\n`; throw new Error("x")')).toEqual({ line: 4, column: 10 });
    expect(await placeOf('\u2028\r\n// -->\nthrow new Error("x")')).toEqual({ line: 4, column: 7 });
  });

  test('outside the program map to its begin or its end', () => {
    const { where } = prepare('return 1\nreturn 2');
    expect(where(1, 1)).toEqual({ line: 1, column: 1 });
    expect(where(99, 1)).toEqual({ line: 2, column: 9 });
  });

  test('every program keeps its lines', async () => {
    const line = fc.constantFrom(
      ...SPELLS.map((spell) => `x = ${JSON.stringify(spell)};`),
      'x = /import(a)/;',
      'x = String.raw`<!--\n-->`;',
      '// -->',
      '',
      'x = `${"import("}`;',
    );
    await fc.assert(
      fc.asyncProperty(fc.array(line, { maxLength: 12 }), async (above) => {
        const source = ['let x;', ...above, 'throw new Error(x)'].join('\n');
        expect(await placeOf(source)).toEqual({ line: source.split('\n').length, column: 7 });
      }),
      { numRuns: 60 },
    );
  });
});

describe('what no guest can do', () => {
  test('is refused before anything runs, with the line, the column and the remedy', () => {
    const samples: [source: string, said: RegExp][] = [
      ['let a;\n  await import("fs")', /^line 2, column 9: a dynamic import.*Use what you hold/],
      ['import fs from "node:fs"\n', /^line 1, column 1: an import of "node:fs".*Use what you hold/],
      ['export const x = 1', /^line 1, column 1: an export.*return/],
      ['export * from "x"', /^line 1, column 1: an export/],
      ['return import.meta.url', /^line 1, column 8: `import.meta`/],
      ['x(eval("1"))', /^line 1, column 3: `eval`/],
      ['(\\u0065val)("1")', /^line 1, column 1: `eval`/],
      ['eval`1`', /^line 1, column 1: `eval`/],
      ['with (a) b()', /^line 1, column 1: a `with` statement/],
      ['\nconst a = ;', /^line 2, column 11: /],
      ['const x: number = ;', /^line 1, column 19: /],
      ['enum A { B }\nreturn A', /^line 1, column 1: .*enum.*JavaScript/],
      ['const x = "a\nb"', /^line 1, column 11: a string that does not end/],
      ['const f = () => { await g() }', /^line 1, column 19: .*async/],
      [`${'['.repeat(5000)}`, /nested too deeply/],
    ];
    for (const [source, said] of samples) expect(refusedAs(source), source.slice(0, 60)).toMatch(said);
  });

  test('a source that is too long is refused unread', () => {
    expect(() => prepare(' '.repeat(256 * 1024 + 1))).toThrow(expect.objectContaining({ code: 'limit' }));
  });

  test('names no file of this machine', () => {
    for (const source of ['const x: = 1', 'enum A {}', 'class A { constructor(private x) {} }', '<T>x'])
      expect(refusedAs(source)).not.toMatch(/node:|\/|\.ts/);
  });
});
