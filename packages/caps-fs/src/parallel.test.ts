/**
 * Many callers on one directory: what they did together is what they would have done one after the other, in
 * some order.
 */
import fs from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { volume } from '../../../test/depth.ts';
import { code, scratch, temporaries } from '../test/scratch.ts';
import type { FsCap } from './index.ts';

test('of several edits with the same version exactly one succeeds, and the others are STALE', async () => {
  await using s = await scratch();
  const { version } = await s.cap.write('f', 'a b c');
  const codes = await Promise.all(
    ['a', 'b', 'c'].map((oldText) => code(s.cap.edit('f', [{ oldText, newText: oldText.toUpperCase() }], { version }))),
  );
  expect(codes.sort()).toEqual(['STALE', 'STALE', 'ok']);
  const next = (await s.cap.stat('f')).version;
  const writes = await Promise.all(
    Array.from({ length: 32 }, (_, i) => code(s.cap.write('f', `${i}`, { version: next }))),
  );
  expect(writes.filter((c) => c === 'ok').length).toBe(1);
  expect(writes.filter((c) => c === 'STALE').length).toBe(31);
  // A person's change is seen by the next one who names the version that was read.
  const seen = (await s.cap.stat('f')).version;
  fs.writeFileSync(s.at('f'), 'by a person');
  expect(await code(s.cap.edit('f', [{ oldText: 'by', newText: 'BY' }], { version: seen }))).toBe('STALE');
});

test('32 edits of one text without a version are all made, none of them lost', async () => {
  await using s = await scratch();
  await s.cap.write('f', Array.from({ length: 32 }, (_, i) => `<${i}>`).join('\n'));
  await Promise.all(Array.from({ length: 32 }, (_, i) => s.cap.edit('f', [{ oldText: `<${i}>`, newText: `[${i}]` }])));
  expect(await s.cap.readText('f')).toBe(Array.from({ length: 32 }, (_, i) => `[${i}]`).join('\n'));
});

test('a write whose directory is renamed meanwhile is as if before or after it, never in between', async () => {
  await using s = await scratch();
  for (let round = 0; round < 20; round++) {
    await s.cap.mkdir('a');
    const written = code(s.cap.write('a/f', 'x'.repeat(200_000)));
    await s.cap.rename('a', 'b');
    await s.cap.mkdir('a');
    // Nobody may see it arrive under the other name from now on.
    const inB = await code(s.cap.stat('b/f'));
    const done = await written;
    expect(await code(s.cap.stat('b/f'))).toBe(inB);
    expect([done, await code(s.cap.stat('a/f'))]).toEqual(inB === 'ok' ? ['ok', 'NOT_FOUND'] : ['ok', 'ok']);
    await s.cap.remove('a', { recursive: true });
    await s.cap.remove('b', { recursive: true });
  }
});

test('a recursive removal is seen whole or not at all', async () => {
  await using s = await scratch();
  for (let i = 0; i < 400; i++) {
    fs.mkdirSync(s.at(`d/${i % 20}`), { recursive: true });
    fs.writeFileSync(s.at(`d/${i % 20}/${i}`), '');
  }
  const removed = code(s.cap.remove('d', { recursive: true }));
  const seen = new Set<string>();
  for (let over = false; !over; ) {
    const [there, many] = await Promise.all([code(s.cap.list('d')), s.cap.glob('d/*/*').then((found) => found.length)]);
    seen.add(`${there} ${many}`);
    // Calls from elsewhere come as events: a loop that never lets one in would starve the removal, too.
    await new Promise((resolve) => setImmediate(resolve));
    over = there === 'NOT_FOUND';
  }
  expect(await removed).toBe('ok');
  for (const state of seen) expect(['ok 400', 'NOT_FOUND 0', 'ok 0']).toContain(state);
  expect(temporaries(s.at('.'))).toEqual([]);
});

test('a recursive removal that is refused removes nothing', async () => {
  await using s = await scratch({ maxEntries: 30 });
  fs.mkdirSync(s.at('d/z'), { recursive: true });
  for (let i = 0; i < 20; i++) fs.writeFileSync(s.at(`d/${i}`), '');
  fs.writeFileSync(s.at('d/z/.env'), '');
  const cap = await s.cap.except(['.env']);
  expect(await code(cap.remove('d', { recursive: true }))).toBe('NOT_PERMITTED');
  expect(fs.readdirSync(s.at('d')).length).toBe(21);
  for (let i = 0; i < 20; i++) fs.writeFileSync(s.at(`d/z/${i}`), '');
  expect(await code(s.cap.remove('d', { recursive: true }))).toBe('FS_LIMIT');
  expect(fs.readdirSync(s.at('d')).length).toBe(21);
  expect(temporaries(s.at('.'))).toEqual([]);
});

// ------------------------------------------------------------------------------------------------ in some order

type Step =
  | { readonly op: 'write'; readonly path: string; readonly create: 'any' | 'new' | 'never' }
  | { readonly op: 'read' | 'remove' | 'removeAll' | 'mkdir' | 'list'; readonly path: string }
  | { readonly op: 'append'; readonly path: string }
  | { readonly op: 'rename' | 'copy'; readonly path: string; readonly to: string };

/** Path -> content; a directory has none. */
type Model = ReadonlyMap<string, string | undefined>;

const parentOf = (path: string): string => path.split('/').slice(0, -1).join('/');
const isBelow = (path: string, of: string): boolean => path.startsWith(`${of}/`);

/** Makes one call on the model. Returns the next model and the result; errors are those of the cap. */
function play(model: Model, step: Step, id: number): readonly [Model, string] {
  const { op, path } = step;
  const missing = way(model, path);
  if (missing) return [model, missing];
  const has = model.has(path);
  const isDirectory = has && model.get(path) === undefined;
  const next = new Map(model);
  switch (op) {
    case 'write':
      if (!has && step.create === 'never') return [model, 'NOT_FOUND'];
      if (has && step.create === 'new') return [model, 'EXISTS'];
      if (isDirectory) return [model, 'IS_A_DIRECTORY'];
      return [next.set(path, `${id}`), 'ok'];
    case 'append':
      if (isDirectory) return [model, 'IS_A_DIRECTORY'];
      return [next.set(path, `${model.get(path) ?? ''}+${id}`), 'ok'];
    case 'copy': {
      if (!has) return [model, 'NOT_FOUND'];
      if (isDirectory) return [model, 'IS_A_DIRECTORY'];
      const missingTo = way(model, step.to);
      if (missingTo) return [model, missingTo];
      return model.has(step.to) ? [model, 'EXISTS'] : [next.set(step.to, model.get(path)), 'ok'];
    }
    case 'read':
      return [model, !has ? 'NOT_FOUND' : isDirectory ? 'IS_A_DIRECTORY' : `= ${model.get(path)}`];
    case 'list':
      if (!has) return [model, 'NOT_FOUND'];
      if (!isDirectory) return [model, 'NOT_A_DIRECTORY'];
      return [
        model,
        `= ${[...model.keys()]
          .filter((other) => parentOf(other) === path)
          .map((other) => other.split('/').at(-1))
          .sort()}`,
      ];
    case 'mkdir':
      return has ? [model, 'EXISTS'] : [next.set(path, undefined), 'ok'];
    case 'remove':
    case 'removeAll': {
      if (!has) return [model, 'NOT_FOUND'];
      const below = [...model.keys()].filter((other) => isBelow(other, path));
      if (isDirectory && op === 'remove' && below.length > 0) return [model, 'NOT_EMPTY'];
      for (const gone of [path, ...below]) next.delete(gone);
      return [next, 'ok'];
    }
    case 'rename': {
      const { to } = step;
      if (!has) return [model, 'NOT_FOUND'];
      const missingTo = way(model, to);
      if (missingTo) return [model, missingTo];
      if (model.has(to)) return [model, 'EXISTS'];
      if (isBelow(to, path)) return [model, 'PATH_INVALID'];
      for (const [other, content] of model) {
        if (other !== path && !isBelow(other, path)) continue;
        next.delete(other);
        next.set(to + other.slice(path.length), content);
      }
      return [next, 'ok'];
    }
  }
}

/** Why there is no way to it. */
function way(model: Model, path: string): string | undefined {
  const names = path.split('/');
  for (let i = 1; i < names.length; i++) {
    const above = names.slice(0, i).join('/');
    if (!model.has(above)) return 'NOT_FOUND';
    if (model.get(above) !== undefined) return 'NOT_A_DIRECTORY';
  }
  return undefined;
}

async function act(cap: FsCap, step: Step, id: number): Promise<string> {
  const { op, path } = step;
  if (op === 'read' || op === 'list') {
    const answer = op === 'read' ? cap.readText(path) : cap.list(path).then((names) => [...names].sort().join());
    return await answer.then(
      (got) => `= ${got}`,
      (error: { code: string }) => error.code,
    );
  }
  return await code(
    op === 'write'
      ? cap.write(path, `${id}`, { create: step.create })
      : op === 'mkdir'
        ? cap.mkdir(path)
        : op === 'append'
          ? cap.append(path, `+${id}`)
          : op === 'rename' || op === 'copy'
            ? cap[op](path, step.to)
            : cap.remove(path, { recursive: op === 'removeAll' }),
  );
}

/** An order in which the calls, made one after the other, give the same results and leave the same files. */
function order(
  start: Model,
  steps: readonly Step[],
  answers: readonly string[],
  settled: readonly number[],
  end: string,
): readonly number[] | undefined {
  const seen = new Set<string>();
  const search = (model: Model, left: readonly number[], done: readonly number[]): readonly number[] | undefined => {
    if (left.length === 0) return told(model) === end ? done : undefined;
    const key = `${left.join()} ${told(model)}`;
    if (seen.has(key) || seen.size > 200_000) return undefined;
    seen.add(key);
    for (const i of left) {
      const [next, answer] = play(model, steps[i] as Step, i);
      if (answer !== answers[i]) continue;
      const rest = left.filter((other) => other !== i);
      const found = search(next, rest, [...done, i]);
      if (found) return found;
      // A call that changes nothing may as well come first: no order without that is better.
      if (next === model) return undefined;
    }
    return undefined;
  };
  return search(start, settled, []);
}

const told = (model: Model): string => JSON.stringify([...model].sort(([a], [b]) => (a < b ? -1 : 1)));

function onDisk(at: (name: string) => string): Model {
  const model = new Map<string, string | undefined>();
  const look = (path: string): void => {
    for (const entry of fs.readdirSync(at(path || '.'), { withFileTypes: true })) {
      const below = path ? `${path}/${entry.name}` : entry.name;
      model.set(below, entry.isDirectory() ? undefined : fs.readFileSync(at(below), 'utf8'));
      if (entry.isDirectory()) look(below);
    }
  };
  look('');
  return model;
}

test('writes, appends, copies, renames, removals of 32 callers on overlapping subtrees behave as in some order', async () => {
  const path = fc.array(fc.constantFrom('a', 'b'), { minLength: 1, maxLength: 3 }).map((names) => names.join('/'));
  const step: fc.Arbitrary<Step> = fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        op: fc.constant('write' as const),
        path,
        create: fc.constantFrom('any', 'any', 'new', 'never'),
      }),
    },
    { weight: 5, arbitrary: fc.record({ op: fc.constantFrom('read', 'remove', 'removeAll', 'mkdir', 'list'), path }) },
    { weight: 3, arbitrary: fc.record({ op: fc.constant('append' as const), path }) },
    { weight: 5, arbitrary: fc.record({ op: fc.constantFrom('rename', 'copy'), path, to: path }) },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 32, maxLength: 32 }), async (steps) => {
      await using s = await scratch({ maxConcurrent: 32 });
      fs.mkdirSync(s.at('a/a'), { recursive: true });
      fs.mkdirSync(s.at('b'));
      fs.writeFileSync(s.at('a/b'), 'old');
      const start = onDisk(s.at);
      const settled: number[] = [];
      const answers = await Promise.all(
        steps.map(async (one, i) => {
          const answer = await act(s.cap, one, i);
          settled.push(i);
          return answer;
        }),
      );
      const end = told(onDisk(s.at));
      expect(temporaries(s.at('.'))).toEqual([]);
      expect(order(start, steps, answers, settled, end), JSON.stringify({ answers, end })).toBeDefined();
    }),
    { numRuns: volume(20, 60) },
  );
});
