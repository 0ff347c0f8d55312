/** `hob recipe` prints and writes what `hob start --recipe` uses. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { hobHome, Running } from '../../../test/hob.ts';
import { RECIPES } from '../../recipes/all.ts';

test('each recipe is printed with its files, its variables and its command; the first line says whether it is tight, and why there is no box', async () => {
  const hob = hobHome();
  for (const { name, program, version, notTight, setUpInBox, noBox, keys, closes } of RECIPES) {
    const { code, out } = await hob.line('recipe', name);
    expect(code).toBe(0);
    const [first = ''] = out.split('\n');
    expect(first).toContain(`${program} ${version}: ${notTight === undefined ? 'its model has' : 'NOT TIGHT: '}`);
    expect([noBox === undefined, first.includes('NO BOX')]).toEqual([setUpInBox !== undefined, noBox !== undefined]);
    expect(first).toContain(noBox ?? '');
    for (const text of [...keys, ...closes]) expect(out).toContain(text);
    const told = await hob.jsonLine<{ readonly files: object; readonly env: Readonly<Record<string, string>>; readonly command: readonly string[]; readonly tight: boolean }>('recipe', name); // biome-ignore format: one line
    expect(told).toMatchObject({ host: name, version, tight: notTight === undefined, keys });
    expect(told.command[0]).toBe(program);
    for (const key of Object.keys(told.env)) expect(out).toContain(`${key}=`);
    for (const file of Object.keys(told.files)) expect(out).toContain(`# the file /HOME-OF-THE-HOST/${file}`);
  }
});

test('a box for a host that has none is refused with the reason', async () => {
  const { code, err } = await hobHome().run('start', '--box', '--model', 'x', '--', 'hermes');
  expect([code, err]).toEqual([
    2,
    expect.stringMatching(/there is no box for hermes: its installation .* --recipe hermes/),
  ]);
});

test('--write writes the files for their owner only, and overwrites nothing', async () => {
  const hob = hobHome();
  const folder = join(hob.folder, 'agent');
  expect((await hob.line('recipe', 'claude', '--write', folder)).code).toBe(0);
  const { mcpServers } = JSON.parse(readFileSync(join(folder, 'hob-mcp.json'), 'utf8')) as { readonly mcpServers: Readonly<Record<string, { readonly args: readonly string[] }>> }; // biome-ignore format: one line
  expect(mcpServers['hob']?.args.at(-1)).toBe('mcp');
  mkdirSync(join(folder, '.gemini'));
  writeFileSync(join(folder, '.gemini/settings.json'), 'mine');
  const again = await hob.line('recipe', 'gemini', '--write', folder);
  expect({ code: again.code, err: again.err }).toEqual({ code: 1, err: expect.stringMatching(/is there already/) });
  expect(readFileSync(join(folder, '.gemini/settings.json'), 'utf8')).toBe('mine');
});

test('--write makes the file that comes out of the host’s own program, without the tools in it', async () => {
  const hob = hobHome();
  const bin = join(hob.folder, 'bin');
  mkdirSync(bin);
  const catalog = { models: [{ slug: 'known', shell_type: 'unified_exec', tool_mode: 'code_mode_only', supports_search_tool: true, base_instructions: 'kept' }] }; // biome-ignore format: one line
  writeFileSync(join(bin, 'codex'), `#!/bin/sh\n[ "$*" = "debug models --bundled" ] && echo '${JSON.stringify(catalog)}'\n`, { mode: 0o755 }); // biome-ignore format: one line
  const run = async (path: string, folder: string): Promise<readonly [number | string, string]> => {
    const [node = '', ...args] = hob.words;
    const running = new Running(node, [...args, 'recipe', 'codex', '--model', 'new', '--write', folder], { ...hob.env, PATH: path }, hob.folder); // biome-ignore format: one line
    hob.track(running);
    running.child.stdin?.end();
    return [await running.ended, running.err];
  };
  const folder = join(hob.folder, 'agent');
  expect((await run(`${bin}:/usr/bin:/bin`, folder))[0]).toBe(0);
  const { models } = JSON.parse(readFileSync(join(folder, '.codex/catalog.json'), 'utf8')) as { readonly models: readonly object[] }; // biome-ignore format: one line
  expect(models).toEqual(
    ['known', 'new'].map((slug) => expect.objectContaining({ slug, shell_type: 'disabled', tool_mode: null, supports_search_tool: false, base_instructions: 'kept' })), // biome-ignore format: one line
  );
  expect(readFileSync(join(folder, '.codex/config.toml'), 'utf8')).toContain(`"${folder}/.codex/catalog.json"`);
  expect(await run('/no/such', join(hob.folder, 'other'))).toEqual([1, expect.stringMatching(/codex debug models --bundled" failed \(ENOENT\)/)]); // biome-ignore format: one line
});

test('a host without a recipe, and options that go with one, are told on the command line', async () => {
  const hob = hobHome();
  for (const [line, text] of [
    [['recipe', 'cursor'], /there is no recipe for "cursor": there are claude, codex, opencode, gemini, hermes/],
    [['start', '--model-url', 'https://x', '--', 'true'], /go with --recipe/],
    [['start', '--recipe', 'claude', '--model-url', 'x', '--', 'true'], /is no address/],
    [['start', '--recipe', 'opencode', '--', 'true'], /name it with --model/],
  ] as const) {
    const { code, err } = await hob.line(...line);
    expect({ code, err }).toEqual({ code: 2, err: expect.stringMatching(text) });
  }
});
