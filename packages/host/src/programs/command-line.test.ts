/** What the commands take. What they do not take could be a limit that somebody meant to set. */
import { expect, test } from 'vitest';
import { commands, type Name, readLine } from './command-line.ts';

const names = Object.keys(commands) as Name[];
/** As many operands as it needs. */
const operands = (name: Name): readonly string[] => Array.from({ length: commands[name].operands[0] }, () => 'x');

function refused(name: Name, args: readonly string[]): void {
  const line = readLine([...name.split(' '), ...args]);
  expect([name, args, line]).toEqual([
    name,
    args,
    { usage: expect.any(String), wrong: expect.any(String), help: false },
  ]);
  // The usage of that command and of no other.
  const rows = (line as { readonly usage: string }).usage.split('\n').filter((row) => /^ {2}\S/.test(row));
  expect(rows.map((row) => row.trim().startsWith(name))).toEqual([true]);
}

test.each(names)(
  '%s: an option that it does not take, a value that is missing and an operand too many are errors with its usage',
  (name) => {
    const { options = {}, operands: [least, most] } = commands[name]; // biome-ignore format: one line
    const own: NonNullable<(typeof commands)[Name]['options']> = { ...options, state: { type: 'string' } };
    expect(readLine([...name.split(' '), ...operands(name)])).toMatchObject({ name });
    for (const other of ['--limit', '--limit=1', '-l', '--use', '--no-help']) refused(name, [...operands(name), other]);
    for (const [option, { type }] of names.flatMap((each) => Object.entries(commands[each].options ?? {})))
      if (!Object.hasOwn(own, option))
        refused(name, [...operands(name), `--${option}`, ...(type === 'string' ? ['1'] : [])]);
    for (const [option, { type }] of Object.entries(own)) {
      if (type === 'boolean') {
        refused(name, [...operands(name), `--${option}=yes`]);
        continue;
      }
      refused(name, [...operands(name), `--${option}`]);
      refused(name, [...operands(name), `--${option}=`]);
      refused(name, [...operands(name), `--${option}`, '--help']);
      if (option !== 'state') refused(name, [...operands(name), `--${option}`, '1', `--${option}`, '1']);
    }
    if (least > 0) refused(name, operands(name).slice(1));
    if (Number.isFinite(most))
      refused(
        name,
        Array.from({ length: most + 1 }, () => 'x'),
      );
    expect(readLine([...name.split(' '), '--help'])).toMatchObject({ help: true });
  },
);

test('options may stand before the command, and after it', () => {
  for (const args of [['--state', 'd', 'approve', 'a', 'b', '--uses', '1'], ['approve', '--uses=1', 'a', '--state', 'd', 'b']]) // biome-ignore format: one line
    expect(readLine(args)).toEqual({ name: 'approve', given: { options: { __proto__: null, state: 'd', uses: '1' }, operands: ['a', 'b'] } }); // biome-ignore format: one line
});

test('what is no command is the usage of all of them', () => {
  for (const args of [[], ['burn'], ['ledger'], ['ledger', 'burn'], ['toString'], ['--limit']]) {
    const line = readLine(args);
    expect(line).toMatchObject({ help: false });
    for (const name of names) expect((line as { readonly usage: string }).usage).toContain(`\n  ${name} `.trimEnd());
  }
});
