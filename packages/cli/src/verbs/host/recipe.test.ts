/** `hob recipe` prints and writes what `hob start --recipe` uses. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { hobHome } from '../../../test/hob.ts';
import { RECIPES } from '../../recipes/all.ts';

test('each recipe is printed with its files, its variables and its command; the first line says whether it is tight', async () => {
  const hob = hobHome();
  for (const { name, program, version, notTight, keys, closes } of RECIPES) {
    const { code, out } = await hob.run('recipe', name);
    expect(code).toBe(0);
    const [first = ''] = out.split('\n');
    expect(first).toContain(`${program} ${version}: ${notTight === undefined ? 'its model has' : 'NOT TIGHT: '}`);
    for (const text of [...keys, ...closes]) expect(out).toContain(text);
    const told = await hob.json<{ readonly files: object; readonly env: Readonly<Record<string, string>>; readonly command: readonly string[]; readonly tight: boolean }>('recipe', name); // biome-ignore format: one line
    expect(told).toMatchObject({ host: name, version, tight: notTight === undefined, keys });
    expect(told.command[0]).toBe(program);
    for (const key of Object.keys(told.env)) expect(out).toContain(`${key}=`);
    for (const file of Object.keys(told.files)) expect(out).toContain(`# the file /HOME-OF-THE-HOST/${file}`);
  }
});

test('--write writes the files for their owner only, and overwrites nothing', async () => {
  const hob = hobHome();
  const folder = join(hob.folder, 'agent');
  expect((await hob.run('recipe', 'claude', '--write', folder)).code).toBe(0);
  const { mcpServers } = JSON.parse(readFileSync(join(folder, 'hob-mcp.json'), 'utf8')) as { readonly mcpServers: Readonly<Record<string, { readonly args: readonly string[] }>> }; // biome-ignore format: one line
  expect(mcpServers['hob']?.args.at(-1)).toBe('mcp');
  mkdirSync(join(folder, '.gemini'));
  writeFileSync(join(folder, '.gemini/settings.json'), 'mine');
  const again = await hob.run('recipe', 'gemini', '--write', folder);
  expect({ code: again.code, err: again.err }).toEqual({ code: 1, err: expect.stringMatching(/is there already/) });
  expect(readFileSync(join(folder, '.gemini/settings.json'), 'utf8')).toBe('mine');
});

test('a host without a recipe, and options that go with one, are told on the command line', async () => {
  const hob = hobHome();
  for (const [line, text] of [
    [['recipe', 'cursor'], /there is no recipe for "cursor": there are claude, opencode, gemini/],
    [['start', '--model-url', 'https://x', '--', 'true'], /go with --recipe/],
    [['start', '--recipe', 'claude', '--model-url', 'x', '--', 'true'], /is no address/],
    [['start', '--recipe', 'opencode', '--', 'true'], /name it with --model/],
  ] as const) {
    const { code, err } = await hob.run(...line);
    expect({ code, err }).toEqual({ code: 2, err: expect.stringMatching(text) });
  }
});
