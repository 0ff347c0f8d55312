/** The kept compiled form of a bundle. The attacker truncates it, changes it, or puts another form in its place. */
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { inherited } from '../../../../test/mutants/environment.ts';
import { requires } from '../../../../test/needs.ts';

const program = new URL('./compiled.ts', import.meta.url).href;

/** Returns a bundle of 200 functions and `word()`, which calls all of them. */
const bundle = (word: string): string => {
  const many = Array.from(
    { length: 200 },
    (_, n) => `function f${n}(a) { const b = a + ${n}; return () => b * ${n}; }`,
  );
  const calls = Array.from({ length: 200 }, (_, n) => `sum += f${n}(1)();`);
  return `(function (exports, module) {"use strict";\n${many.join('\n')}\nmodule.exports = { word() { let sum = 0; ${calls.join(' ')} return '${word} ' + sum; } };\n})`;
};

/** Makes a folder with a bundle and a program that runs it. `kept` is the file of its compiled form. */
function installed() {
  const folder = fs.mkdtempSync(join(tmpdir(), 'hob-compiled-'));
  onTestFinished(() => fs.rmSync(folder, { recursive: true, force: true }));
  const [file, main] = [join(folder, 'words.cjs'), join(folder, 'main.mjs')];
  fs.writeFileSync(file, bundle('one'));
  // Mutants run with options of Node. They are removed, because with options no form is kept.
  fs.writeFileSync(
    main,
    `delete process.env.NODE_OPTIONS; process.execArgv.length = 0;
     const { loadCompiled } = await import(${JSON.stringify(program)});
     const [place, code, ...options] = process.argv.slice(2);
     if (options.length > 0) process.env.NODE_OPTIONS = options[0];
     console.log(loadCompiled(${JSON.stringify(file)}, place)?.word());
     process.exit(Number(code));`,
  );
  const kept = join(folder, 'kept', `form-${process.version}-${process.arch}`);
  const run = (place = join(folder, 'kept', 'form'), code = 0, ...options: readonly string[]) => {
    const { status, signal, stdout } = spawnSync(process.execPath, [main, place, String(code), ...options], {
      env: { PATH: process.env['PATH'], ...inherited() },
      encoding: 'utf8',
    });
    return [status ?? signal, stdout];
  };
  return { folder, file, kept, run };
}

const said = /^one \d+\n$/;

test('the form of a failed run is used until a run ends with 0, and the form of that run stays', () => {
  const { kept, run } = installed();
  expect(run(undefined, 3)).toEqual([3, expect.stringMatching(said)]);
  const first = fs.readFileSync(kept);
  expect(run(undefined, 3)).toEqual([3, expect.stringMatching(said)]);
  expect(fs.readFileSync(kept).equals(first)).toBe(true);
  expect(run()).toEqual([0, expect.stringMatching(said)]);
  expect(fs.readFileSync(kept).at(-1)).toBe(1);
  const { ino } = fs.statSync(kept);
  for (const code of [0, 3]) expect(run(undefined, code)[0]).toBe(code);
  expect(fs.statSync(kept).ino).toBe(ino);
  expect(fs.readdirSync(join(kept, '..'))).toEqual([kept.split('/').at(-1)]);
});

test('a form that was truncated or changed is not used, and is replaced', () => {
  const { kept, run } = installed();
  run();
  const whole = fs.readFileSync(kept);
  const cut = [0, 3, 5, 100, whole.length >> 1, whole.length - 1].map((length) => whole.subarray(0, length));
  const zeroed = [64, whole.length >> 1].map((at) => Buffer.concat([whole.subarray(0, at), Buffer.alloc(whole.length - at)])); // biome-ignore format: one line
  const changed = Array.from({ length: 8 }, (_, n) => {
    const bytes = Buffer.from(whole);
    const at = Math.floor(((n + 0.5) * whole.length) / 8);
    for (let i = at; i < at + 64; i += 1) bytes[i] = (bytes[i] ?? 0) ^ 0x5a;
    return bytes;
  });
  for (const [n, bytes] of [...cut, ...zeroed, ...changed].entries()) {
    fs.writeFileSync(kept, bytes);
    expect(run(), String(n)).toEqual([0, expect.stringMatching(said)]);
    const now = fs.readFileSync(kept);
    expect([now.equals(bytes), now.at(-1)], String(n)).toEqual([false, 1]);
  }
}, 60_000);

test('the form of another bundle of the same length is not used', () => {
  const { file, run } = installed();
  expect(run()[1]).toMatch(said);
  fs.writeFileSync(file, bundle('two'));
  expect(run()[1]).toMatch(/^two \d+\n$/);
});

test('a form that another user may have written is not used, and none is kept where others may write', () => {
  const { folder, kept, run } = installed();
  run();
  // Its checksum is right, so it would run: the checksum is no secret, and another user could make it.
  const before = fs.statSync(kept).ino;
  fs.chmodSync(kept, 0o666);
  expect(run()).toEqual([0, expect.stringMatching(said)]);
  const after = fs.statSync(kept);
  expect([after.ino === before, after.mode & 0o777]).toEqual([false, 0o644]);
  const open = join(folder, 'open');
  fs.mkdirSync(open);
  fs.chmodSync(open, 0o777);
  expect(run(join(open, 'form'))).toEqual([0, expect.stringMatching(said)]);
  expect(fs.readdirSync(open)).toEqual([]);
  // The owner of a link can point it to another folder later, so nothing is kept behind a link.
  const [real, link] = [join(folder, 'real'), join(folder, 'link')];
  fs.mkdirSync(real);
  fs.symlinkSync(real, link);
  expect(run(join(link, 'form'))).toEqual([0, expect.stringMatching(said)]);
  expect(fs.readdirSync(real)).toEqual([]);
});

requires('root')('root uses no form that belongs to another user, and keeps none in a folder of one', () => {
  const { folder, kept, run } = installed();
  run();
  const before = fs.statSync(kept).ino;
  fs.chownSync(kept, 54_321, 54_321);
  expect(run()).toEqual([0, expect.stringMatching(said)]);
  const after = fs.statSync(kept);
  expect([after.ino === before, after.uid]).toEqual([false, 0]);
  const theirs = join(folder, 'theirs');
  fs.mkdirSync(theirs);
  fs.chownSync(theirs, 54_321, 54_321);
  expect(run(join(theirs, 'form'))).toEqual([0, expect.stringMatching(said)]);
  expect(fs.readdirSync(theirs)).toEqual([]);
});

test('if nothing can be kept, or Node has options, a bundle runs without a form; a checkout has no bundle', () => {
  const { folder, file, run } = installed();
  fs.writeFileSync(join(folder, 'taken'), '');
  expect(run(join(folder, 'taken', 'form'))).toEqual([0, expect.stringMatching(said)]);
  expect(run(join(folder, 'other', 'form'), 0, '--max-old-space-size=200')).toEqual([0, expect.stringMatching(said)]);
  expect(fs.existsSync(join(folder, 'other'))).toBe(false);
  fs.rmSync(file);
  expect(run()).toEqual([0, 'undefined\n']);
});
