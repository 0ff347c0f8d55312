/**
 * The main job in a real terminal (pty): serve, a request arrives, grant for 15 minutes, see it used, narrow, revoke,
 * verify.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { requires } from '../../../../test/needs.ts';
import { agentIn, type HobHome, hobHome, Running } from '../../test/hob.ts';
import { KEYS, Terminal } from '../../test/screen.ts';

const test = requires('linux', 'pty');

/** A command of hob with a terminal of its own. What is written to it is typed. */
function typed(hob: HobHome, ...args: readonly string[]): Running {
  const line = [...hob.words, ...args].map((word) => `'${word}'`).join(' ');
  return new Running('script', ['-qec', line, '/dev/null'], { ...hob.env, TERM: 'xterm', NO_COLOR: '1' }, hob.folder);
}

/** The text that the terminal showed, without its line ends. */
const shown = ({ out }: Running): string => out.replaceAll('\r', '');

test('in a terminal: a request arrives with a bell, a person agrees to 15 minutes, sees it used, narrows, revokes, verifies', async () => {
  const hob = hobHome();
  await hob.serve();
  const inbox = new Terminal(hob, ['inbox', '--follow']);
  const agent = hob.start('start', '--', ...agentIn(hob.folder));
  await inbox.until(/R1 /);
  inbox.type(KEYS.down);
  await inbox.until(/can be answered for 60 min\n/);
  expect(inbox.out).toContain('\u0007');
  expect(inbox.screen).toMatch(/ {4}path +“a\.txt”\n {4}data +“first⟦NL⟧”\n/);

  // A person who does not say yes has granted nothing.
  const no = typed(hob, 'grant', 'R1', '--for', '15m');
  await no.shows(/Approve\? \(yes or no\)/);
  no.child.stdin!.write('n\n');
  expect(await no.ended).toBe(1);
  expect(shown(no)).toContain('nothing was approved');
  const yes = typed(hob, 'grant', 'R1', '--uses', '5', '--for', '15m');
  await yes.shows(/on these terms: 5 calls, within 15 min[\s\S]*Approve\?/);
  yes.child.stdin!.write('yes\n');
  expect(await yes.ended).toBe(0);
  await agent.shows(/wrote first/);

  const list = typed(hob, 'list');
  expect(await list.ended).toBe(0);
  const [heads, ...rows] = shown(list).trimEnd().split('\n');
  expect(heads).toMatch(/^id +session +cap +state +uses left +time left +leads to$/);
  const at = heads!.indexOf('cap');
  expect(rows.map((row) => row.slice(at).split(' ')[0])).toEqual(['src', 'edit', 'edit']);
  expect(rows[2]).toMatch(/^G3 +S1 +edit +live +4 +15 min/);
  // Nothing has colour.
  expect(list.out).not.toContain('\u001b');

  for (const [args, says] of [
    [['narrow', 'G3', '--uses', '1'], /1 use left/],
    [['revoke', 'G3'], /revoked G3/],
    [['ledger', 'verify'], /the ledger is whole/],
  ] as const) {
    const command = typed(hob, ...args);
    expect(await command.ended, args.join(' ')).toBe(0);
    expect(shown(command)).toMatch(says);
  }
  agent.child.stdin!.write('second\n');
  await inbox.until(/R2 /);
  expect((await hob.run('refuse', 'R2')).code).toBe(0);
  await agent.shows(/refused denied/);
  expect(readFileSync(join(hob.folder, 'config/project/src/a.txt'), 'utf8')).toBe('first\n');
  agent.child.stdin!.write('end\n');
  expect(await agent.ended).toBe(4);
  inbox.type(KEYS.interrupt);
  expect(await inbox.ended).toBe(0);
}, 400_000);

test('a mistyped verb in a terminal is one line and the usage, without a stack', async () => {
  const hob = hobHome();
  const wrong = typed(hob, 'grnat', 'R1');
  expect(await wrong.ended).toBe(2);
  expect(shown(wrong)).toMatch(/^hob: unknown command 'grnat' \(Did you mean grant\?\)\n/);
  expect(shown(wrong)).not.toMatch(/^\s+at /m);
  expect(spawnSync('script', ['--version']).status).toBe(0);
});
