/** Where roots are, and that no manifest lies in one of them. */
import { expect, test } from 'vitest';
import { check, type Layer, lineOf } from '../index.ts';

const now = 0;
const layer = (roots: string, more: Partial<Layer> = {}): Layer => ({
  layer: 'user',
  file: '/u/ann/.config/hob/app.yaml',
  folder: '/u/ann/.config/hob',
  text: `version: 1\nroots: ${roots}\nsession: { caps: {} }`,
  ...more,
});
const isIn = (folder: string, file: string): boolean => file.startsWith(`${folder}/`);

test('a relative root begins at the folder of its file, and ~ at home', () => {
  const { plan } = check([layer('{ a: ./work, b: /srv/x/, c: ~/notes, d: { temp: true }, e: ../y }')], {
    now,
    home: '/u/ann',
  });
  expect(plan?.roots).toEqual({
    a: '/u/ann/.config/hob/work',
    b: '/srv/x',
    c: '/u/ann/notes',
    d: undefined,
    e: '/u/ann/.config/hob/../y',
  });
});

test('~ without a home, and a root that is not there, are mistakes with their lines', () => {
  expect(check([layer('{ a: ~/x }')], { now }).mistakes.map(lineOf)).toEqual([
    '/u/ann/.config/hob/app.yaml:2:13: roots.a: "~/x" is not a place; write a path like ./work or /srv/data',
  ]);
  const asked: string[] = [];
  const exists = (path: string): boolean => {
    asked.push(path);
    return false;
  };
  expect(check([layer('{ a: ./work }')], { now, exists }).mistakes.map(lineOf)).toEqual([
    expect.stringContaining('app.yaml:2:13: roots.a: there is no folder "./work"; make it'),
  ]);
  expect(asked).toEqual(['/u/ann/.config/hob/work']);
});

test('a manifest within one of its roots, or within a root of a layer above, is refused', () => {
  const own = check([layer('{ a: . }')], { now, holds: isIn });
  expect(own.plan).toBeUndefined();
  expect(own.mistakes.map(lineOf)).toEqual([expect.stringContaining('roots.a: this root holds the manifest itself')]);
  const lower = layer('{}', { layer: 'project', file: '/srv/app/hob.yaml', folder: '/srv/app' });
  const both = check([layer('{ app: /srv/app }'), lower], { now, holds: isIn });
  expect(both.plan).toBeUndefined();
  expect(both.mistakes.map(lineOf)).toEqual([
    expect.stringContaining('/srv/app/hob.yaml:1:1: this file lies in the root app'),
  ]);
});
