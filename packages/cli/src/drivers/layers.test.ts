/** The places where `hob serve` looks for manifests. */
import { chmodSync, linkSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { LayerName } from '@hob/manifest';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { requires } from '../../../../test/needs.ts';
import { servedLayers } from './layers.ts';
import { readManifest } from './manifest-file.ts';
import type { UsualPlaces } from './places.ts';

let at = '';
beforeEach(() => {
  at = realpathSync(mkdtempSync(join(tmpdir(), 'hob-layers-')));
  onTestFinished(() => rmSync(at, { recursive: true, force: true }));
  for (const name of ['etc', 'config', 'work/src', 'root/src']) mkdirSync(join(at, name), { recursive: true });
});
const write = (name: string, text: string): string => {
  mkdirSync(dirname(join(at, name)), { recursive: true });
  writeFileSync(join(at, name), text);
  return join(at, name);
};
const places = (more: Partial<UsualPlaces> = {}): UsualPlaces => ({
  machine: join(at, 'etc'),
  user: join(at, 'config/hob.yaml'),
  isNamed: false,
  here: join(at, 'work'),
  ...more,
});
const USER = `version: 1
roots: { root: ../root }
session: { mode: autonomous, caps: { src: { fs: root/src, can: [read, write] }, all: { fs: root, can: [read] } } }
`;
const names = (named: readonly string[] = [], more: Partial<UsualPlaces> = {}): readonly string[] =>
  servedLayers(places(more), named).given.map(({ layer }) => layer);

test('organisation, machine, user, project and local are found at their places and narrow each other', () => {
  write('config/hob.yaml', USER);
  write('etc/organisation.yaml', 'version: 1\nsession: { mode: cautious, deny: [all] }\n');
  write('etc/machine.yaml', 'version: 1\nsession: { deadline: 2h }\n');
  write('work/hob.yaml', 'version: 1\nsession: { caps: { src: { fs: root/src, can: [read] }, more: { fs: root, can: [write] } } }\n'); // biome-ignore format: one line
  write('work/hob.local.yaml', 'version: 1\nsession: { mode: supervised }\n');
  const { plan, layers, warnings, file } = readManifest(places());
  expect(layers.map(({ layer }) => layer)).toEqual(['organisation', 'machine', 'user', 'project', 'local']);
  expect(file).toBe(join(at, 'config/hob.yaml'));
  expect(plan).toMatchObject({ mode: 'supervised', deadlineMs: 7_200_000, denied: ['all'] });
  expect(Object.values(plan.caps)).toMatchObject([{ name: 'src', can: ['read'] }]);
  // A dropped part is named with its line.
  expect(warnings).toEqual([expect.stringMatching(/work\/hob\.yaml:2:\d+: warning: session\.caps\.more: /)]);
});

test('a file of the working directory is no authority of its own, and none if it lies in a root', () => {
  const project = write('work/hob.yaml', 'version: 1\nroots: { x: src }\nsession: { caps: { x: { fs: x, can: [write] } } }\n'); // biome-ignore format: one line
  expect(() => servedLayers(places(), [])).toThrow(/there is no manifest/);
  write('config/hob.yaml', 'version: 1\nsession: { mode: cautious }\n');
  const { given, said } = servedLayers(places(), []);
  expect(given.map(({ layer }) => layer)).toEqual(['user']);
  expect(said).toEqual([expect.stringMatching(/is not used as the layer project: no layer above it says/)]);
  write('config/hob.yaml', USER.replace('../root', '../work'));
  expect(names()).toEqual(['user']);
  // Named as a layer, it is a mistake: the session could write it.
  expect(() => readManifest(places(), [`project=${project}`])).toThrow(/lies in the root/);
  // Also through a link from outside, and as a second name of the folder.
  symlinkSync(project, join(at, 'config/outside.yaml'));
  expect(() => readManifest(places(), [`project=${join(at, 'config/outside.yaml')}`])).toThrow(/lies in the root/);
  symlinkSync(join(at, 'work'), join(at, 'alias'));
  expect(names([], { here: join(at, 'alias') })).toEqual(['user']);
});

test('one file is one layer, and a layer is one file', () => {
  const user = write('work/hob.yaml', USER);
  expect(names([], { user, isNamed: true })).toEqual(['user']);
  linkSync(user, join(at, 'work/hob.local.yaml'));
  expect(names([], { user, isNamed: true })).toEqual(['user']);
  write('etc/organisation.yaml', 'version: 1\n');
  expect(() => names([`org=${user}`])).toThrow(/named twice/);
  expect(() => names(['nobody=x.yaml'])).toThrow(/LAYER=FILE/);
});

requires('linux', 'nonroot')('a layer of the machine that may not be read is a mistake, and never overlooked', () => {
  write('config/hob.yaml', USER);
  chmodSync(write('etc/organisation.yaml', 'version: 1\n'), 0);
  expect(() => readManifest(places())).toThrow(/organisation\.yaml:1:1: .*may not be read/);
  chmodSync(join(at, 'etc'), 0);
  onTestFinished(() => chmodSync(join(at, 'etc'), 0o700));
  expect(() => readManifest(places())).toThrow(/cannot be looked at/);
  chmodSync(join(at, 'etc'), 0o700);
});

test('a session may be narrower, and no layer above its own can be given for it', () => {
  write('config/hob.yaml', USER);
  const { narrowed } = readManifest(places());
  const below = (layer: LayerName, text: string) => [{ layer, file: 'x.yaml', folder: at, text }];
  const { plan, warnings } = narrowed(
    below('flags', 'version: 1\nsession: { mode: plan, deny: [all], caps: { new: { fs: root, can: [write] } } }\n'),
  );
  expect(Object.keys(plan.caps)).toEqual(['src']);
  expect(plan.mode).toBe('plan');
  expect(warnings).toEqual([expect.stringContaining('no layer above has new')]);
  for (const layer of ['user', 'machine', 'organisation'] as const)
    expect(() => narrowed(below(layer, 'version: 1\n'))).toThrow(`a session cannot have another layer ${layer}`);
  expect(() => narrowed(below('flags', 'version: 2\n'))).toThrow(/x\.yaml:1:10/);
});
