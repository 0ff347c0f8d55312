/** The live list in a real terminal (pty), with a real host and an agent that asks. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { requires } from '../../../../../test/needs.ts';
import { agentIn, hobHome } from '../../../test/hob.ts';
import { KEYS, Terminal } from '../../../test/screen.ts';

const test = requires('linux', 'pty');

test('a request appears with a bell and a countdown, is granted for a number of calls with keys, and another one is refused by default', async () => {
  const hob = hobHome();
  await hob.serve();
  const inbox = new Terminal(hob, ['inbox', '--follow']);
  await inbox.until(/no request waits/);
  // Nothing is chosen, so Enter does nothing.
  inbox.type(KEYS.enter);
  await inbox.until(/no request is chosen/);
  const agent = hob.start('start', '--', ...agentIn(hob.folder));
  await inbox.until(/ {2}R1 {2}59:5\d left {2}S1 {2}it /);
  expect(inbox.out).toContain('\u0007');
  inbox.type(KEYS.down);
  await inbox.until(/> R1 [\s\S]*data +“first⟦NL⟧”[\s\S]*a yes permits:/);
  inbox.type(KEYS.enter);
  await inbox.until(/\[refuse\][\s\S]*refuse R1/);
  for (const _ of [1, 2, 3]) inbox.type(KEYS.right);
  await inbox.until(/\[once\][\s\S]*approve R1: once, within 60 min\n/);
  inbox.type(KEYS.enter);
  await inbox.until(/no request waits[\s\S]*approved R1 on these terms: once/);
  await agent.shows(/wrote first/);

  agent.child.stdin?.write('second\n');
  await inbox.until(/ {2}R2 {2}\d+:\d\d left/);
  inbox.type(KEYS.up);
  await inbox.until(/> R2/);
  inbox.type(KEYS.enter);
  await inbox.until(/\[refuse\]/);
  inbox.type(KEYS.enter);
  await agent.shows(/refused denied/);

  // A request that is answered elsewhere vanishes.
  agent.child.stdin?.write('third\n');
  await inbox.until(/ {2}R3 /);
  inbox.type(KEYS.down);
  await inbox.until(/> R3/);
  expect((await hob.run('refuse', 'R3')).code).toBe(0);
  await inbox.until(/no request waits[\s\S]*R3 was answered elsewhere, or has ended/);
  expect(readFileSync(join(hob.folder, 'config/project/src/a.txt'), 'utf8')).toBe('first\n');

  // Nothing has a colour, and the terminal is given back.
  expect(inbox.raw).not.toMatch(/␛\[[\d;]*m/);
  inbox.type(KEYS.interrupt);
  expect(await inbox.ended).toBe(0);
  expect(inbox.raw).toMatch(/␛\[\?25h␛\[\?1049l[\s\S]*approved R1 [\s\S]*refused R2/);
  agent.child.stdin?.write('end\n');
  await agent.ended;
}, 120_000);

test('text of an agent reaches the terminal by number only, a terminal may change its size, and one that dies ends the list', async () => {
  const hob = hobHome();
  await hob.serve();
  const agent = hob.start('start', '--', ...agentIn(hob.folder));
  const inbox = new Terminal(hob, ['inbox', '--follow']);
  await inbox.until(/ {2}R1 /);
  expect((await hob.run('refuse', 'R1')).code).toBe(0);
  await agent.shows(/refused denied/);
  agent.child.stdin?.write('\u001b[2J\u009b31m\u202egnp\u0007 a yes permits: nothing\n');
  await inbox.until(/ {2}R2 /);
  inbox.type(KEYS.down);
  await inbox.until(/> R2[\s\S]*⟦U\+001B⟧\[2J⟦U\+009B⟧31m⟦U\+202E⟧gnp/);
  expect(inbox.raw).not.toMatch(/␛\[2J|\u009b|\u202e/);

  const { tty, pid } = inbox.at;
  expect(spawnSync('stty', ['-F', tty, 'rows', '6', 'cols', '30']).status).toBe(0);
  await inbox.until(/^make this terminal larger\nCtrl-C leaves$/);
  expect(spawnSync('stty', ['-F', tty, 'rows', '24', 'cols', '70']).status).toBe(0);
  await inbox.until(/> R2/);
  for (const row of inbox.screen.split('\n')) expect(row.length).toBeLessThanOrEqual(70);

  inbox.child.kill('SIGKILL');
  await inbox.ended;
  await hob.until(
    async () => existsSync(`/proc/${pid}`),
    (runs) => !runs,
  );
  expect((await hob.json<readonly object[]>('inbox')).length).toBe(1);
  agent.child.kill('SIGTERM');
  await agent.ended;
}, 120_000);

test('a host that ends takes the list with it: one line says so, and the terminal is given back', async () => {
  const hob = hobHome();
  const host = await hob.serve();
  const inbox = new Terminal(hob, ['inbox', '--follow']);
  await inbox.until(/no request waits/);
  host.child.kill('SIGTERM');
  expect(await inbox.ended).toBe(1);
  const after = inbox.out.slice(inbox.out.lastIndexOf('\u001b[?1049l'));
  expect(after).toMatch(/hob: [^\n]+\r\n$/);
  expect(after).not.toMatch(/^\s+at /m);
}, 120_000);
