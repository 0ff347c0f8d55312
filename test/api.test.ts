/** The API reference is made of every entry point, and refuses a name that nothing is said about. */
import fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { facesOfAll, makeReference } from '../scripts/api/reference.ts';
import { exportsOf } from './exported.ts';
import { ROOT } from './sources.ts';

function temporary(): string {
  const folder = fs.mkdtempSync(join(tmpdir(), 'hob-api-'));
  onTestFinished(() => fs.rmSync(folder, { recursive: true }));
  return folder;
}

test('the API reference has every name of every entry point, and typedoc warns of nothing', async () => {
  const target = join(temporary(), 'api');
  const faces = facesOfAll();
  expect(await makeReference(faces, target)).toEqual([]);
  const pages = fs
    .readdirSync(target, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.html'))
    .map((name) => ({ name, text: fs.readFileSync(join(target, name), 'utf8') }));
  for (const { name, file } of faces) {
    const page = pages.find((one) => one.name === `modules/${name.replace(/[@/]/g, '_')}.html`);
    for (const exported of exportsOf(relative(ROOT, file)).keys())
      expect(page?.text, `${name}: ${exported}`).toContain(exported);
  }
  for (const { name, text } of pages) expect(text.includes(ROOT), name).toBe(false);
}, 600_000);

test('a name without a doc comment, or with a link that leads nowhere, is a fault, and no page is written', async () => {
  const folder = temporary();
  const file = join(folder, 'index.mts');
  const target = join(folder, 'api');
  fs.writeFileSync(file, '/** Sees {@link nothingOfTheName}. */\nexport const linked = 1;\nexport const silent = 2;\n');
  const faults = await makeReference([{ name: 'odd', file }], target);
  expect(faults).toEqual([
    expect.stringMatching(/^silent .*does not have any documentation/),
    expect.stringMatching(/nothingOfTheName.*linked/),
  ]);
  expect(fs.existsSync(target)).toBe(false);
}, 600_000);
