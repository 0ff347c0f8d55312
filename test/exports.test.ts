/** A name that a file exports is for other files: one that only its own file uses is not exported. */
import { expect, test } from 'vitest';
import { blank, filesIn, isTest, isTypeScript, packages, read, type Source } from './sources.ts';

const DECLARED =
  /^export (?:declare )?(?:abstract )?(?:async )?(?:const|let|function\*?|class|interface|type|enum) ([\w$]+)/gm;

/** The exported names of `products` that no other of the files uses. */
function unused(products: readonly string[], files: readonly Source[]): string[] {
  const users = new Map<string, number>();
  const code = new Map(files.map(({ file, text }) => [file, blank(text)]));
  for (const text of code.values())
    for (const name of new Set(text.match(/[A-Za-z_$][\w$]*/g))) users.set(name, (users.get(name) ?? 0) + 1);
  return products.flatMap((file) =>
    [...(code.get(file) ?? '').matchAll(DECLARED)]
      .map(([, name = '']) => name)
      .filter((name) => users.get(name) === 1)
      .map((name) => `${file}: ${name}`),
  );
}

test('every exported name of a product file is used by another file, a test at least', () => {
  const files = filesIn().filter((file) => isTypeScript(file) && !file.startsWith('test/fixtures/'));
  const products = files.filter((file) => packages.some((name) => file.startsWith(`packages/${name}/src/`)));
  expect(
    unused(
      products.filter((file) => !isTest(file)),
      files.map(read),
    ),
  ).toEqual([]);
});

test('a name in a comment or in a string is no use of it', () => {
  const files = [
    { file: 'a.ts', text: 'export const one = 1;\nexport function two() {}\nexport type Three = typeof one;' },
    { file: 'b.ts', text: `// one\nimport { two } from './a.ts';\nexport const text = 'Three';` },
  ];
  expect(unused(['a.ts'], files)).toEqual(['a.ts: one', 'a.ts: Three']);
});
