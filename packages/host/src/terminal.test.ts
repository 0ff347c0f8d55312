/**
 * Text that reaches a terminal. The attacker chooses it: an agent by names of methods, a program by
 * what it says.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { E, verifyLedger } from '@hob/vat';
import fc from 'fast-check';
import { expect, onTestFinished, test, vi } from 'vitest';
import { anyCharacter } from '../../../test/any-character.ts';
import { Program } from '../../../test/processes.ts';
import { code, held, lines, testHost } from '../test/test-host.ts';
import { out, outJson, outText, say, sayText } from './drivers/terminal.ts';
import { terminalJson, terminalLine } from './text/safe-text.ts';

/**
 * Controls, C1, directions, formats, all spaces but one, breaks of lines and paragraphs, surrogates, private,
 * unassigned, what is left out when shown.
 */
const unsafe = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Variation_Selector}\u{2800}]|(?! )\p{Zs}/u;
const evil = '\u009b31m\u202eegnar\u200b\u2028\u0007\u001b[2J\u{e0041}\ud800\ufeff';
const anything = fc.oneof(
  fc.string({ unit: anyCharacter }),
  fc.array(fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit))).map((units) => units.join('')),
  fc.array(fc.constantFrom(...evil, 'a', '⟦', '“', '"', '\\', '\n')).map((chars) => chars.join('')),
);

/** The text that is written to both streams while `act` runs. */
function written(act: () => void): string {
  let text = '';
  const take = ((part: string) => {
    text += part;
    return true;
  }) as typeof process.stdout.write;
  const spies = [vi.spyOn(process.stdout, 'write').mockImplementation(take), vi.spyOn(process.stderr, 'write').mockImplementation(take)]; // biome-ignore format: one line
  try {
    act();
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
  return text;
}

test('for any text, the writer emits only characters that a terminal shows as themselves', () => {
  fc.assert(
    fc.property(anything, (text) => {
      for (const write of [out, say]) {
        const line = written(() => write(text));
        expect(line.endsWith('\n')).toBe(true);
        expect(unsafe.test(line.slice(0, -1))).toBe(false);
        expect(line.isWellFormed()).toBe(true);
      }
      for (const write of [outText, sayText])
        expect(
          written(() => write(text))
            .split('\n')
            .some((line) => unsafe.test(line)),
        ).toBe(false);
    }),
  );
});

test('every UTF-16 unit is written as itself or by its number, in a line and in JSON', () => {
  for (let unit = 0; unit <= 0xffff; unit += 1) {
    const text = `a${String.fromCharCode(unit)}b`;
    if (unsafe.test(terminalLine(text)) || unsafe.test(terminalJson(JSON.stringify(text)))) expect(unit).toBe('shown');
  }
});

test('written JSON parses to the same data', () => {
  fc.assert(
    fc.property(fc.dictionary(anything, fc.oneof(anything, fc.integer(), fc.array(anything))), (data) => {
      const text = written(() => outJson(JSON.stringify(data)));
      expect(unsafe.test(text.slice(0, -1))).toBe(false);
      expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(data)));
    }),
  );
});

test('names of methods, reasons and names of files that an agent chose: no command of a granter shows them raw, and an export is exact and verifies', async () => {
  const home = await testHost();
  onTestFinished(() => home.close());
  const state = join(home.folder, 'state');
  await home.host.offer('bell', { ring: async () => 'ding' });
  await E(home.granter).grant(home.session.id, 'bell', 'bell', { uses: 9 });
  const agent = await home.enter(home.session.secret);
  const bell = held<Record<string, (...args: unknown[]) => Promise<unknown>>>(agent, 'bell');
  const name = evil.replace('\ud800', '');
  await code((E(bell)[name] as () => Promise<unknown>)());
  E(agent.bootstrap)
    .request({ asks: 'bell', terms: { methods: [name] }, why: name })
    .catch(() => {});
  while (((await E(home.granter).inbox()) as readonly unknown[]).length === 0);
  const run = async (...args: readonly string[]): Promise<string> => {
    const program = new Program('hob', [...args, '--state', state], { stdin: `${home.granterSecret}\n` });
    await program.ended;
    return program.lines.join('\n');
  };
  // The tabs between the cells of a table are ours.
  const clean = (text: string): void => expect(text.split(/[\n\t]/).filter((part) => unsafe.test(part))).toEqual([]);
  const [request] = (await E(home.granter).inbox()) as readonly { readonly id: string }[];
  for (const args of [['list'], ['inbox'], ['inbox', request!.id], ['revoke', evil], ['refuse', request!.id, evil], [`--${name}`], ['list', evil]]) clean(await run(...args)); // biome-ignore format: one line
  const printed = await run('ledger', 'export');
  clean(printed);
  const file = join(home.folder, 'ledger.jsonl');
  await run('ledger', 'export', file);
  const exported = readFileSync(file, 'utf8');
  clean(exported);
  const real: string[] = [];
  for await (const line of home.host.ledger()) real.push(line);
  const parsed = (text: string): unknown[] =>
    text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown);
  expect(parsed(exported)).toEqual(real.map((line) => JSON.parse(line) as unknown).slice(0, parsed(exported).length));
  expect((await lines(home.host)).some(({ method }) => method === name.slice(0, 64))).toBe(true);
  expect(real.some((line) => unsafe.test(line))).toBe(true);
  expect(await run('ledger', 'verify', file)).toMatch(/^the ledger is whole/);
  expect(await verifyLedger({ file })).toMatchObject({ ok: true });
  // One that was exported as it is, as before, still verifies; one that was changed does not, also where only
  // an escape was.
  writeFileSync(file, `${real.join('\n')}\n`);
  expect(await run('ledger', 'verify', file)).toMatch(/^the ledger is whole/);
  writeFileSync(file, exported.replace('\\u202e', '\\u202d'));
  expect(await run('ledger', 'verify', file)).toMatch(/NOT whole/);
});

test('the output of an agent’s program reaches the terminal line by line, and never raw', async () => {
  const home = await testHost();
  onTestFinished(() => home.close());
  const file = join(home.folder, 'program.mjs');
  writeFileSync(
    file,
    `export default async ({ say }) => { say(${JSON.stringify(`one\ntwo ${evil}`)}); throw new Error(${JSON.stringify(evil)}); };`,
  );
  const program = new Program('agent.ts', [file], { env: { HOB_URL: home.url }, stdin: `${home.session.secret}\n` });
  await program.ended;
  expect(program.lines.filter((line) => unsafe.test(line))).toEqual([]);
  expect(program.lines[0]).toBe('one');
  expect(program.lines[1]).toMatch(/^two ⟦U\+009B⟧31m⟦U\+202E⟧/);
  expect(program.lines.at(-1)).toMatch(/^hob agent: ⟦U\+009B⟧/);
});

test('no command-line program of this package writes in another way', () => {
  const root = import.meta.dirname;
  const sources = (readdirSync(root, { recursive: true }) as string[]).filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts')); // biome-ignore format: one line
  expect(sources).toContain(join('programs', 'serve-workspace.ts'));
  const direct =
    /\b(?:stdout|stderr)\.write|(?<![.\w])console\.\w|\bwriteSync\(\s*[12]\b|=\s*process\.std(?:out|err)\b(?!\.isTTY)|\{[^}]*\bstd(?:out|err)\b[^}]*\}\s*=\s*process\b/;
  expect(['process.stdout.write(x)', 'const { stdin, stderr } = process', 'console.error(x)', 'const to = process.stdout;'].every((text) => direct.test(text))).toBe(true); // biome-ignore format: one line
  for (const name of sources) {
    if (name === join('drivers', 'terminal.ts')) continue;
    const text = readFileSync(join(root, name), 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|\/\/[^\n]*/g, '');
    const bad = text.split('\n').filter((line) => direct.test(line));
    expect([name, bad]).toEqual([name, []]);
  }
});
