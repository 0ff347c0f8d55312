/** The set-up and the packing of packages build the page again, while hosts may serve it. */
import { execFileSync } from 'node:child_process';
import { closeSync, fstatSync, openSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const at = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url));

test('a build replaces each file of the page in one step: a reader gets the old file or the new one, and no part of one', () => {
  const names = ['console.css', 'console.html', 'console.js', 'icon.svg'];
  const before = names.map((name) => {
    const held = openSync(at(`built/${name}`), 'r');
    return { name, held, text: readFileSync(at(`built/${name}`), 'utf8') };
  });
  execFileSync(process.execPath, [at('build.mjs')]);
  for (const { name, held, text } of before) {
    // Another file has the name now. The old file, which is still open here, was not written to.
    expect(fstatSync(held).ino).not.toBe(statSync(at(`built/${name}`)).ino);
    expect([readFileSync(held, 'utf8'), readFileSync(at(`built/${name}`), 'utf8')]).toEqual([text, text]);
    closeSync(held);
  }
  expect(readdirSync(at('built')).filter((name) => name !== '.stamp')).toEqual(names);
});
