import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';

const ask = (value: string | undefined, code: string): unknown => {
  const { HOB_MUTANT: _own, ...env } = process.env;
  const url = JSON.stringify(new URL('./mutant.ts', import.meta.url).href);
  const program = `const { mutant, mutantName } = await import(${url}); ${code}`;
  const printed = execFileSync(process.execPath, ['--input-type=module', '-e', program], {
    env: value === undefined ? env : { ...env, HOB_MUTANT: value },
  });
  return JSON.parse(printed.toString());
};

test('exactly the one named mechanism is out, and nothing said later changes that', () => {
  const code = `process.env.HOB_MUTANT = 'limit';
    console.log(JSON.stringify([mutantName() ?? null, mutant('ledger'), mutant('limit'), mutant('')]));`;
  expect(ask('ledger', code)).toEqual(['ledger', true, false, false]);
  expect(ask('', code)).toEqual([null, false, false, false]);
  expect(ask(undefined, code)).toEqual([null, false, false, false]);
  expect(ask('ledger,limit', code)).toEqual(['ledger,limit', false, false, false]);
});
