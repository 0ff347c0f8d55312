/** Moving caps from `ask` to `caps`: what the text becomes, and that nothing else changes. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { manifestText } from '../import/text.ts';
import { lineOf, type Manifest, moved, movedText, parse } from '../index.ts';

function manifestOf(text: string): Manifest {
  const { manifest, mistakes } = parse({ file: 'hob.yaml', text });
  expect(mistakes.map(lineOf)).toEqual([]);
  return manifest as Manifest;
}
const EDIT = { name: 'edit', uses: 3, for: '15m', note: 'granted 3 times: E1 E2 E3' };
const BLOCK = `version: 1
roots:   { project: project }   # mine
session:
  # of the agent
  caps:
    src:  { fs: project/src, can: [read, list] }
  ask:
    # one
    edit: { fs: project/src, can: [read, write], offer: { uses: 20, for: 1h } }
    push: { command: git, argv: [[push]] } # two
  mode: cautious
`;

test('a cap is moved by its lines, and no other line changes', () => {
  expect(movedText(BLOCK, manifestOf(BLOCK), [EDIT])).toBe(
    BLOCK.replace(/ {4}edit: .*\n/, '').replace(
      '  ask:\n',
      '    edit: { fs: project/src, can: [read, write], uses: 3, for: 15m } # granted 3 times: E1 E2 E3\n  ask:\n',
    ),
  );
  const both = movedText(BLOCK, manifestOf(BLOCK), [EDIT, { ...EDIT, name: 'push' }]);
  expect(both).not.toContain('ask:');
  expect(both.split('\n').slice(0, 6)).toEqual(BLOCK.split('\n').slice(0, 6));
  expect(both).toMatch(/\n {2}mode: cautious\n$/);
  expect(manifestOf(both)).toEqual(moved(manifestOf(BLOCK), [EDIT, { ...EDIT, name: 'push' }]));
});

test('whatever its form, the new text is the old manifest with these caps moved', () => {
  const cap = fc.constantFrom(
    '{ message: "a:b" }',
    '{ fs: project, can: [read] }',
    '\n      message: "c:d"\n      uses: 9',
  );
  const names = fc.uniqueArray(fc.constantFrom('edit', 'push', 'tell', 'x'), { minLength: 1, maxLength: 4 });
  const part = (caps: readonly (readonly [string, string])[], isFlow: boolean): string =>
    isFlow
      ? `{ ${caps.map(([name, text]) => `${name}: ${text.startsWith('{') ? text : '{ message: "c:d", uses: 9 }'}`).join(', ')} }`
      : `\n${caps.map(([name, text]) => `    ${name}: ${text}`).join('\n')}`;
  const listed = fc.tuple(names, fc.array(cap, { minLength: 4, maxLength: 4 }), fc.boolean());
  fc.assert(
    fc.property(listed, fc.option(fc.boolean()), fc.boolean(), ([asked, texts, isFlow], hasCaps, endsOpen) => {
      const ask = `  ask: ${part(
        asked.map((name, n) => [name, texts[n] as string]),
        isFlow,
      )}\n`;
      const caps = hasCaps === null ? '' : `  caps: ${part([['own', '{ message: "e:f" }']], hasCaps)}\n`;
      const whole = `version: 1\nroots: { project: . }\nsession:\n  mode: plan\n${ask}${caps}`;
      const text = endsOpen ? whole.trimEnd() : whole;
      const moves = asked.slice(0, 2).map((name) => ({ ...EDIT, name }));
      const manifest = manifestOf(text);
      expect(manifestOf(movedText(text, manifest, moves))).toEqual(moved(manifest, moves));
      expect(manifestOf(manifestText(moved(manifest, moves))).session?.ask).toEqual(
        moved(manifest, moves).session?.ask,
      );
    }),
  );
});
