import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { blocks } from '../../../test/readme.ts';
import * as actors from './actors/index.ts';
import { systemRandom } from './drivers/random.ts';
import * as main from './index.ts';

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
const resolve = new URL('../../../scripts/resolve.mjs', import.meta.url).href;

const [bank = '', lasting = '', ...others] = blocks(readme, 'ts');
/** The second block stands in place of the end of the first. */
const lastingBank = bank.slice(0, bank.indexOf('const vats')) + lasting;

function folderFor(program: string): { readonly cwd: string; readonly args: readonly string[] } {
  const cwd = mkdtempSync(join(tmpdir(), 'hob-readme-'));
  onTestFinished(() => rmSync(cwd, { recursive: true }));
  writeFileSync(join(cwd, 'bank.ts'), program);
  return { cwd, args: ['--import', resolve, join(cwd, 'bank.ts')] };
}

test('the bank of the README runs as it stands there and prints what the README says', async () => {
  expect(others).toEqual([]);
  const { cwd, args } = folderFor(bank);
  const { stdout, stderr } = await promisify(execFile)(process.execPath, args, { cwd });
  expect(stdout).toBe(blocks(readme, 'text')[0]);
  expect(stderr).toBe('');
});

test('the bank that lasts goes on where it was, and prints what the README says', async () => {
  const { cwd, args } = folderFor(lastingBank);
  for (let i = 0; i < 2; i += 1) {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, args, { cwd });
    expect(readme).toContain(`\`${stdout.trimEnd()}\``);
    expect([stdout, stderr]).toEqual([i === 0 ? 'alice 90 bob 30\n' : 'alice 80 bob 40\n', '']);
  }
});

const SUM = 1_000_000;

/**
 * Each transfer moves 1, so that what Bob has counts the transfers that are there. Prints one line for each
 * that was answered.
 */
const loop = `
import { writeSync } from 'node:fs';
writeSync(1, \`\${await E(alice).balance()} \${await E(bob).balance()}\\n\`);
const caller = async () => {
  for (;;) {
    await E(bank).transfer(alice, bob, 1);
    writeSync(1, 'ok\\n');
  }
};
await Promise.all([caller(), caller(), caller()]);
`;

test('kill -9 in a loop of transfers: the sum is what it was and every answered transfer is there', async () => {
  const program = lastingBank
    .slice(0, lastingBank.indexOf('await E(bank)'))
    .replace('Purse(100, 1000)', `Purse(${SUM}, ${SUM})`)
    .replace('Purse(20, 60)', `Purse(0, ${SUM})`);
  const { cwd, args } = folderFor(program + loop);
  let answered = 0;
  for (let life = 0; life < 3; life += 1) {
    const child: ChildProcess = spawn(process.execPath, args, { cwd, stdio: ['ignore', 'pipe', 'inherit'] });
    const said = await saidUntilKilled(child, life < 2 ? 200 : 0);
    const [balances = '', ...answers] = said.split('\n').slice(0, -1);
    const [alice = 0, bob = 0] = balances.split(' ').map(Number);
    expect(alice + bob).toBe(SUM);
    expect(bob).toBeGreaterThanOrEqual(answered);
    // Three were under way: of those nobody was told, and each is there or not.
    expect(bob).toBeLessThanOrEqual(answered + 3);
    answered = bob + answers.length;
  }
  expect(answered).toBeGreaterThan(400);
});

/** The text that it printed until there were `lines` lines, and for some more ms. */
async function saidUntilKilled(child: ChildProcess, lines: number): Promise<string> {
  let said = '';
  const over = new Promise((done) => child.once('close', done));
  const enough = new Promise<void>((done) => {
    child.stdout?.on('data', (chunk: Buffer) => {
      said += chunk.toString();
      if (said.split('\n').length > lines + 1) done();
    });
  });
  await Promise.race([enough, over]);
  const [jitter = 0] = systemRandom(1);
  await new Promise((done) => setTimeout(done, jitter / 10));
  child.kill('SIGKILL');
  await over;
  return said;
}

test('every function that the README names is there', () => {
  const known =
    'make\\w+|driver(?:Of)?|define\\w*|openVats|spawn|attempt|trace|facet|race|allOf|table|promise|readOnly|writeOnly';
  const named = [...readme.matchAll(new RegExp(`\`(${known}|callOrSend|isNear)(?:<V>)?\\(`, 'g'))].map(
    (match) => match[1] ?? '',
  );
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter((name) => !(name in main || name in actors))).toEqual([]);
});
