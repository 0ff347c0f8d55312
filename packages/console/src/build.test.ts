/** The page is built anew while hosts serve it: by the set-up, and when packages are packed. */
import { execFileSync } from 'node:child_process';
import { closeSync, fstatSync, openSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const at = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url));

test('a build replaces each file of the page whole: who reads one meanwhile gets no part of it', () => {
  const names = ['console.css', 'console.html', 'console.js', 'icon.svg'];
  const before = names.map((name) => {
    const held = openSync(at(`built/${name}`), 'r');
    return { name, held, text: readFileSync(at(`built/${name}`), 'utf8') };
  });
  execFileSync(process.execPath, [at('build.mjs')]);
  for (const { name, held, text } of before) {
    // The file that was there is no longer there, and was not written to.
    expect(fstatSync(held).ino).not.toBe(statSync(at(`built/${name}`)).ino);
    expect([readFileSync(held, 'utf8'), readFileSync(at(`built/${name}`), 'utf8')]).toEqual([text, text]);
    closeSync(held);
  }
  expect(readdirSync(at('built')).filter((name) => name !== '.stamp')).toEqual(names);
});
