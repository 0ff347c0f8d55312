/**
 * Random trees full of links, random paths, every operation: each resolver returns what the model in memory
 * returns.
 */
import fs from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anyCharacter } from '../../../test/any-character.ts';
import { volume } from '../../../test/depth.ts';
import { backends, lacks } from '../test/backends.ts';
import { hostIn } from '../test/escapes/judge.ts';
import { look, namesOf, Refused, resolve, type Tree } from '../test/escapes/model.ts';
import { operationNames, operations } from '../test/escapes/operations.ts';
import { makeWorld, OUTSIDE_NAME, SECRET } from '../test/escapes/world.ts';
import { code } from '../test/scratch.ts';
import { openFsCap } from './index.ts';
import { parsePath } from './root/path.ts';

const names = ['a', 'b', 'c', 'd'] as const;
// Some that a link may carry and a request may not.
const steps = fc.oneof({ arbitrary: fc.constantFrom(...names), weight: 6 }, fc.constantFrom('..', '.', ''));
const relative = fc
  .array(steps, { minLength: 1, maxLength: 5 })
  .map((parts) => parts.join('/'))
  .filter((text) => text !== '');
const linkText = fc.oneof(
  { arbitrary: relative, weight: 6 },
  fc.constantFrom('OUTSIDE/secret', 'OUTSIDE', '../outside', 'ROOT/a', '/', '/proc/self/cwd', '../root/a'),
);

const { tree } = fc.letrec<{ tree: Tree; leaf: Tree; dir: Tree }>((tie) => ({
  leaf: fc.oneof(
    fc.record({ kind: fc.constant('file' as const), content: fc.constantFrom('inside', 'inside too') }),
    fc.record({ kind: fc.constant('link' as const), text: linkText }),
    fc.record({ kind: fc.constant('link' as const), text: linkText }),
  ),
  dir: fc
    .dictionary(fc.constantFrom(...names), tie('tree'), { maxKeys: 4, noNullPrototype: true })
    .map((entries) => ({ kind: 'dir' as const, entries: new Map(Object.entries(entries)) })),
  tree: fc.oneof({ depthSize: 'small', withCrossShrink: true }, tie('leaf'), tie('dir')),
}));
const root = fc
  .dictionary(fc.constantFrom(...names), tree, { minKeys: 2, maxKeys: 4, noNullPrototype: true })
  .map((entries) => ({ kind: 'dir' as const, entries: new Map(Object.entries(entries)) }));

const odd = fc.constantFrom(
  '\0',
  '\ud800',
  '.~caps-0123456789abcdef',
  '%2e%2e',
  '..\\',
  'n'.repeat(256),
  '\u202e',
  '~',
);
const asked = fc.oneof(
  { arbitrary: fc.array(fc.constantFrom(...names), { minLength: 1, maxLength: 6 }).map((p) => p.join('/')), weight: 8 },
  { arbitrary: fc.array(fc.oneof(steps, odd), { maxLength: 6 }).map((parts) => parts.join('/')), weight: 2 },
  { arbitrary: relative.map((text) => `../${text}`), weight: 1 },
  { arbitrary: fc.string({ unit: anyCharacter, maxLength: 12 }), weight: 1 },
);

function plant(at: string, tree: Tree, world: { readonly outside: string; readonly root: string }): void {
  if (tree.kind === 'file') fs.writeFileSync(at, tree.content);
  else if (tree.kind === 'link') fs.symlinkSync(realText(tree.text, world), at);
  else {
    fs.mkdirSync(at, { recursive: true });
    for (const [name, inner] of tree.entries) plant(path.join(at, name), inner, world);
  }
}

function realText(text: string, { outside, root }: { readonly outside: string; readonly root: string }): string {
  return text.replace('OUTSIDE', outside).replace('ROOT', root);
}

/** With `OUTSIDE` for a path of the host a text is absolute, for the model too. */
function asModel(tree: Tree): Tree {
  if (tree.kind === 'link') return { kind: 'link', text: tree.text.replace(/^(?:OUTSIDE|ROOT)/, '/x') };
  if (tree.kind === 'file') return tree;
  return { kind: 'dir', entries: new Map([...tree.entries].map(([name, inner]) => [name, asModel(inner)])) };
}

function modelled<R>(answer: () => R): R | string {
  try {
    return answer();
  } catch (error) {
    if (error instanceof Refused) return error.code;
    throw error;
  }
}

for (const backend of backends) {
  const lacking = await lacks(backend);
  test(`${backend}: what a path means is what the model says, and nothing else ever comes out`, async (context) => {
    if (lacking !== undefined) context.skip(lacking);
    const met = new Set<string>();
    await fc.assert(
      fc.asyncProperty(root, fc.array(asked, { minLength: 4, maxLength: 12 }), async (tree, paths) => {
        await using world = await makeWorld({});
        for (const name of fs.readdirSync(world.root)) fs.rmSync(path.join(world.root, name), { recursive: true });
        plant(world.root, tree, world);
        const model = asModel(tree) as Extract<Tree, { kind: 'dir' }>;
        const cap = await openFsCap(world.root, { backend });
        try {
          const before = world.snapshot();
          for (const wanted of paths) {
            const read = modelled(() => {
              const found = resolve(model, wanted);
              return found.kind === 'file' ? `= ${found.content}` : 'IS_A_DIRECTORY';
            });
            const got = await cap.readText(wanted).then(
              (text) => `= ${text}`,
              (error: { code: string }) => error.code,
            );
            expect(got, `read ${JSON.stringify(wanted)}`).toBe(read);
            const listed = modelled(() => {
              const found = resolve(model, `${wanted}/`);
              return found.kind === 'dir' ? `= ${[...found.entries.keys()].sort()}` : 'NOT_A_DIRECTORY';
            });
            const shown = await cap.list(`${wanted}/`).then(
              (all) => `= ${all}`,
              (error: { code: string }) => error.code,
            );
            expect(shown, `list ${JSON.stringify(wanted)}`).toBe(listed);
            const kind = modelled(() => look(model, wanted).kind);
            const seen = await cap.stat(wanted).then(
              (stat) => stat.kind as string,
              (error: { code: string }) => error.code,
            );
            expect(seen, `stat ${JSON.stringify(wanted)}`).toBe(kind);
            met.add(read.startsWith('=') ? 'read' : read);
          }
          expect(world.snapshot()).toEqual(before);
          // Then everything, each after what the others did: only that nothing gets out.
          for (const [i, wanted] of paths.entries()) {
            const operation = operationNames[(i * 7 + wanted.length) % operationNames.length] ?? 'read';
            const answer = await operations[operation](cap, wanted).catch((error: unknown) => {
              expect(hostIn(error, world)).toEqual([]);
              return '';
            });
            for (const secret of [SECRET, OUTSIDE_NAME, world.top]) expect(answer).not.toContain(secret);
          }
          expect(world.snapshot().outside).toBe(before.outside);
        } finally {
          await cap.close();
        }
      }),
      { numRuns: volume(60, 120) },
    );
    // The trees were such that it mattered.
    for (const outcome of ['read', 'NOT_FOUND', 'RESOLVED_OUTSIDE', 'NOT_A_DIRECTORY', 'PATH_ESCAPES']) {
      expect([...met], outcome).toContain(outcome);
    }
  });
}

test('the grammar takes and refuses what the model of it does, whatever the string', () => {
  const piece = fc.oneof(
    steps,
    odd,
    fc.string({ unit: anyCharacter, maxLength: 4 }),
    fc.constantFrom('a'.repeat(255), '/'),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 140 }), fc.boolean(), (pieces, slash) => {
      const input = `${slash ? '/' : ''}${pieces.join('/')}`;
      let mine: unknown;
      try {
        mine = namesOf(input);
      } catch (error) {
        mine = (error as Refused).code;
      }
      let theirs: unknown;
      try {
        theirs = parsePath(input);
      } catch (error) {
        theirs = (error as { code: string }).code;
      }
      expect(theirs).toEqual(mine);
    }),
    { numRuns: volume(500, 3_000) },
  );
});

test('a value that is no string is no path, whatever it pretends to be', async () => {
  await using world = await makeWorld({});
  const cap = await openFsCap(world.root);
  try {
    await fc.assert(
      fc.asyncProperty(
        fc.anything().filter((value) => typeof value !== 'string' && value !== undefined),
        async (value) => {
          for (const operation of operationNames) {
            expect(await code(operations[operation](cap, value as string)), operation).not.toBe('ok');
          }
        },
      ),
      { numRuns: 30 },
    );
    expect(fs.readdirSync(world.root).sort()).toEqual(['dir', 'file', 'whole']);
  } finally {
    await cap.close();
  }
});
