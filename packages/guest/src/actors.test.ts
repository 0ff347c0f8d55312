/**
 * A module of actors has the powers that it was loaded with and no others, and cannot touch another module.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openFsCap } from '@hob/caps-fs';
import { type AnyDefinition, driver, driverOf, E, type Far, openVats, type Portrait, type Vats } from '@hob/vat';
import { describe, expect, onTestFinished, test } from 'vitest';
import { loadActors } from './actors.ts';

const COUNTER = `
import { type Definition, define } from '@hob/vat';

export interface Counter { next(): number }
export const Counter: Definition<Counter, [count: number]> = define('Counter', (bcom, count: number) => ({
  next: () => bcom(Counter(count + 1), count),
}));
`;

/** After the skills of an agent: a text beside the code, and what to do with it. */
const SKILL = `
import { type Definition, define, E } from '@hob/vat';
interface Folder { readText(path: string): Promise<string> }

export const Skill: Definition<object, [folder: Folder]> = define('skill.greet', (bcom, folder: Folder) => ({
  greet: (who: string) => E.when(E(folder).readText('text.md'), (text) => text + who),
  pry: (path: string) => E(folder).readText(path),
}));
`;

async function open(): Promise<Vats> {
  const vats = await openVats();
  onTestFinished(() => vats.close());
  return vats;
}

/** One of the module's actors, alive in a vat. */
const spawned = <T extends object>(
  vats: Vats,
  definition: AnyDefinition | undefined,
  ...state: unknown[]
): Promise<Far<T>> =>
  vats.vat('module').spawn((definition as unknown as (...state: unknown[]) => Portrait<T>)(...state)) as Promise<
    Far<T>
  >;

const refusedAs = async (source: string, powers: Readonly<Record<string, unknown>> = {}): Promise<string> => {
  const outcome: unknown = await loadActors(source, { powers }).catch((error: unknown) => error);
  expect(outcome, source).toMatchObject({ name: 'CapError' });
  return (outcome as Error).message;
};
const oneActor = (body: string): string =>
  `export const A = define('A', (bcom) => ({\n  run: (x) => { ${body} },\n}));`;

describe('a module', () => {
  test('has ordinary imports, types and exports', async () => {
    const vats = await open();
    const { Counter } = await loadActors(COUNTER);
    const counter = await spawned<{ next(): number }>(vats, Counter, 5);
    expect([await E(counter).next(), await E(counter).next()]).toEqual([5, 6]);
  });

  test('imports ready-made actors as an ordinary file does, and no other entry point of the vat', async () => {
    const vats = await open();
    const { Holder } = await loadActors(
      `import { define } from '@hob/vat'; import { makeCell } from '@hob/vat/actors';
       export const Holder = define('Holder', () => ({ held: (x) => makeCell(x).read() }));`,
    );
    const holder = await spawned<{ held(x: number): number }>(vats, Holder);
    expect(await E(holder).held(7)).toBe(7);
    for (const face of ['store', 'forwarder', 'wire', 'testing', 'peer', 'no-such-face'])
      expect(await refusedAs(`import { define } from '@hob/vat/${face}';`), face).toMatch(
        /may import @hob\/vat and @hob\/vat\/actors/,
      );
  });

  test('exports definitions under its own names, and nothing else', async () => {
    const both = await loadActors(
      `import { define as actor } from '@hob/vat';
       const A = actor('A', () => ({ a: () => 1 })), B = actor('B', () => ({ b: () => A() }));
       export { A as First, B as 'the second' }; export default actor('C', () => ({}));`,
    );
    expect(Object.entries(both).map(([name, { label }]) => [name, label])).toEqual([
      ['First', 'A'],
      ['the second', 'B'],
      ['default', 'C'],
    ]);
    expect(await refusedAs('\nexport const A = define("A", () => ({}));\n export const limit = 5;')).toMatch(
      /^line 3, column 2: exports "limit", which is not a definition/,
    );
    expect(await refusedAs('export function then(f) { f(1) }')).toMatch(/^line 1, column 1: .*`then`/);
    expect(await refusedAs('const A = define("A", () => ({}));')).toMatch(/exports no actor/);
  });

  test('a module that fails while it loads reports the line', async () => {
    expect(await refusedAs('export const A: unknown = define("A", () => ({}));\n  null.x;')).toMatch(
      /^line 2, column \d+: Cannot read/,
    );
    expect(await refusedAs('export const A =\n define("", () => ({}));')).toMatch(
      /^line 2, column \d+: a definition needs a label/,
    );
  });

  test('awaits nothing at its top level and imports nothing dynamically', async () => {
    expect(await refusedAs('await 1;')).toMatch(/^line 1, column 1: an `await` outside functions/);
    expect(await refusedAs('export const A = define("A", () => ({ run: () => import("fs") }));')).toMatch(
      /a dynamic import/,
    );
    expect(await refusedAs("import { readFile } from 'node:fs/promises';")).toMatch(
      /^line 1, column 1: an import of "node:fs/,
    );
    expect(await refusedAs("export * from './other.ts';")).toMatch(/an export from elsewhere/);
    expect(await refusedAs("import { openStore } from '@hob/vat';")).toMatch(
      /^line 1, column 10: "openStore".*there are E, /,
    );
    expect(await refusedAs("import * as vat from '@hob/vat';")).toMatch(/^line 1, column 8: "\*"/);
  });

  test('a module that is nested too deeply for the type stripper breaks nothing: the next one loads', async () => {
    const deep = `export const a: number = ${'!'.repeat(60_000)}1;`;
    expect(await refusedAs(deep)).toMatch(/nested too deeply/);
    expect(Object.keys(await loadActors(COUNTER))).toEqual(['Counter']);
  });
});

describe('authority', () => {
  test('a module that uses a name it was not given does not load; the error has line, column and remedy', async () => {
    for (const name of [
      'process',
      'fetch',
      'require',
      'console',
      'setTimeout',
      'Buffer',
      'globalThis',
      'crypto',
      'performance',
      'Function',
      'eval',
      'Compartment',
      'lockdown',
      'module',
      'window',
      'WebAssembly',
    ])
      expect(await refusedAs(oneActor(`return ${name}.x`)), name).toMatch(
        new RegExp(
          `^line 2, column 24: \`${name}\` is not there: .*loadActors\\(source, \\{ powers: \\{ ${name} \\} \\}\\)`,
        ),
      );
    // Not even to look whether it is there, as a default, in a pattern, a class or a template.
    for (const use of [
      'typeof process',
      '({ x = process } = {})',
      '((a = process) => a)()',
      '`${process}`',
      'class { static x = process }',
      '({ [process]: 1 })',
      '[...process]',
      'process?.exit',
    ])
      expect(await refusedAs(oneActor(`return ${use}`)), use).toMatch(/`process` is not there/);
  });

  test('it may declare any name for itself', async () => {
    const own = `
      const process = 1; var fetch = 2; let { a: [require = 3] } = { a: [] };
      function console({ setTimeout }, ...Buffer) { return [process, fetch, require, setTimeout, Buffer, arguments.length] }
      class window { crypto = 1; static { let performance = 1; this.x = performance; } fetch() { return this.crypto } }
      label: for (const module of [1]) { for (let global in { module }) continue label; }
      try { throw 1 } catch ({ exports }) { switch (exports) { default: let document; document = 2 } }
      export const A = define('A', (bcom) => ({ run: () => console({ setTimeout: { process: 1 }.process }, 5).length }));`;
    expect(Object.keys(await loadActors(own))).toEqual(['A']);
  });

  test('a module that sets a global in any way does not load', async () => {
    for (const setting of [
      'count = 1',
      'count += 1',
      'count++',
      '[count] = [1]',
      '({ a: count = 1 } = {})',
      'for (count of []);',
      'for (count in {});',
      'define = 1',
      'undefined = 1',
    ])
      expect(await refusedAs(oneActor(setting)), setting).toMatch(/^line 2, column \d+: sets `\w+`.*bcom/);
    expect(await refusedAs('this.count = 1; export const A = define("A", () => ({}))')).toMatch(
      /^line 1, column \d+: Cannot set/,
    );
  });

  test('code that is made at run time finds no further names', async () => {
    const vats = await open();
    const { A } = await loadActors(
      oneActor('try { return (() => 0).constructor("return globalThis")() } catch (error) { return String(error) }'),
    );
    const a = await spawned<{ run(): string }>(vats, A);
    expect(await E(a).run()).toMatch(/^TypeError/);
  });

  test('a power has its name, and is there only if the manifest names it', async () => {
    const vats = await open();
    const clock = driver<{ read(): number }>({ read: () => Promise.resolve(1234) });
    const vault = driver<{ open(): string }>({ open: () => Promise.resolve('all of it') });
    const asks = (name: string) =>
      `export const manifest = { powers: ['clock'] } as const;\nexport const A = define('A', () => ({\n  run: () => E(${name}).${name === 'clock' ? 'read' : 'open'}(),\n}));`;
    const { A, manifest } = await loadActors(asks('clock'), { powers: { clock, vault } });
    expect(manifest).toBeUndefined();
    const a = await spawned<{ run(): number }>(vats, A);
    expect(await E(a).run()).toBe(1234);
    expect(await refusedAs(asks('vault'), { clock, vault })).toMatch(/^line 3, column 16: `vault` is not there/);
    expect(await refusedAs(asks('clock'), { vault })).toMatch(/needs "clock", which it was not given/);
    expect(await refusedAs(asks('clock').replace("['clock']", 'all()'), { clock })).toMatch(
      /the manifest is read before anything runs/,
    );
    // Without a manifest the powers given are what it has.
    expect(Object.keys(await loadActors(asks('clock').split('\n').slice(1).join('\n'), { powers: { clock } }))).toEqual(
      ['A'],
    );
  });

  test('a power that can be changed, or that hides a name of JavaScript, is refused', async () => {
    const module = 'export const A = define("A", () => ({ run: () => log }));';
    for (const log of [{ lines: [] }, Object.freeze({ lines: [] }), () => 0, new Map()])
      expect(await refusedAs(module, { log })).toMatch(/the power "log" could be changed/);
    for (const log of [
      'info',
      Object.freeze({ level: 1 }),
      harden((x: unknown) => x),
      driver<{ write(): void }>({ write: () => Promise.resolve() }),
    ])
      expect(Object.keys(await loadActors(module, { powers: { log } }))).toEqual(['A']);
    for (const name of ['Object', 'define', 'globalThis'])
      expect(await refusedAs(module, { [name]: 1 })).toMatch(/another name/);
  });
});

describe('a skill', () => {
  test('a module reads the folder that it was given, and no other', async () => {
    const root = mkdtempSync(join(tmpdir(), 'skills-'));
    onTestFinished(() => rmSync(root, { recursive: true }));
    for (const [name, text] of [
      ['greet', 'Hello, '],
      ['pay', 'the key of the bank'],
    ] as const) {
      mkdirSync(join(root, 'skills', name), { recursive: true });
      writeFileSync(join(root, 'skills', name, 'text.md'), text);
    }
    // The host reads the skill's source through a directory cap, as all else; the skill's process is this
    // one.
    writeFileSync(join(root, 'skills/greet/actor.ts'), SKILL);
    const vats = await open();
    const skills = await openFsCap(join(root, 'skills'));
    onTestFinished(() => skills.close());
    const source = await skills.readText('greet/actor.ts');

    const { Skill } = await loadActors(source);
    const skill = await spawned<{ greet(who: string): string; pry(path: string): string }>(
      vats,
      Skill,
      driverOf(await skills.subdir('greet')),
    );
    expect(await E(skill).greet('Ada')).toBe('Hello, Ada');
    for (const path of ['../pay/text.md', '/etc/passwd', 'pay/text.md', '../../skills/pay/text.md'])
      await expect(E(skill).pry(path), path).rejects.toMatchObject({ name: 'CapError' });
    // The same source with a line more, which reaches for the process that it runs in.
    await expect(loadActors(`${source}\nprocess.env.HOME;`)).rejects.toThrow('`process` is not there');
  });
});

describe('pollution', () => {
  const attempts = [
    'Object.prototype.polluted = 1',
    'Array.prototype.push = () => 1',
    'Promise.prototype.then = null',
    'Object.defineProperty(Object.getPrototypeOf(A), "call", { value: 1 })',
    '({}).__proto__.polluted = 1',
    '(async () => {}).constructor.prototype.polluted = 1',
    'Object.setPrototypeOf(Array.prototype, {})',
    'define.polluted = 1',
    'E.sendOnly = () => 1',
    'CapError.prototype.message = "polluted"',
    'makeCell.polluted = 1',
    'Object.getPrototypeOf(A).polluted = 1',
    'A.polluted = 1',
    'clock.polluted = 1',
    'Object.getPrototypeOf(clock).read = () => 1',
    'Math.random = () => 4',
    'JSON.parse = () => 1',
    'Map.prototype.get = () => 1',
  ];

  test('changing a shared object fails, so a module affects neither another module nor the host', async () => {
    const clock = driver<{ read(): number }>({ read: () => Promise.resolve(1234) });
    for (const attempt of attempts) {
      const source = `export const A = define('A', () => ({}));\n${attempt};`;
      expect(await refusedAs(source, { clock }), attempt).toMatch(
        /^line 2, column \d+: (?:Cannot|.* is not extensible)/,
      );
    }
    expect('polluted' in Object.prototype).toBe(false);
    expect([].push).toBeTypeOf('function');
    expect(Object.keys(await loadActors(COUNTER))).toEqual(['Counter']);
  });

  test('without hardened intrinsics no module loads', () => {
    const program = `
      import 'ses';
      import { loadActors } from '@hob/guest';
      await loadActors(${JSON.stringify(COUNTER)}).then(
        () => console.log('loaded'),
        ({ code, message }) => console.log(code, message),
      );`;
    const here = join(import.meta.dirname, '../../..');
    const run = spawnSync(
      process.execPath,
      ['--import', join(here, 'scripts/resolve.mjs'), '--input-type=module', '-e', program],
      {
        cwd: import.meta.dirname,
        encoding: 'utf8',
      },
    );
    expect(run.stdout).toMatch(/^unavailable modules load only .*lockdown/);
  });
});
