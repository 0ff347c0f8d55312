/**
 * The main job from the first command to the last, each typed into a terminal of its own (pty): init, serve, a request
 * arrives, grant for 15 minutes, see it used, narrow, revoke, verify the ledger, back up, restore.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { requires } from '../../../../test/needs.ts';
import { AGENT, hobHome, Running, resolveHook } from '../../test/hob.ts';

const test = requires('linux', 'pty');

/** It reads through the cap that `hob init` gives, and writes through the one that asks. */
const FIRST_AGENT = AGENT.replace("cap('src')).readText('a.txt')", "cap('files')).readText('src/a.txt')").replace(
  "write('a.txt'",
  "write('src/a.txt'",
);

test('in a terminal, from init to a restored backup: nothing but the typed commands is needed', async () => {
  const hob = hobHome();
  rmSync(join(hob.folder, 'config/hob.yaml'));
  const file = join(hob.folder, 'config/project/src/a.txt');
  const typed = (...args: readonly string[]): Running => {
    const line = [...hob.words, ...args].map((word) => `'${word}'`).join(' ');
    return new Running('script', ['-qec', line, '/dev/null'], { ...hob.env, TERM: 'xterm', NO_COLOR: '1' }, hob.folder);
  };
  /** Runs a command to its end, and returns what the terminal showed. */
  const shown = async (...args: readonly string[]): Promise<string> => {
    const running = typed(...args);
    const code = await running.ended;
    const text = running.out.replaceAll('\r', '');
    expect([args, code, text]).toEqual([args, 0, expect.any(String)]);
    return text;
  };
  const answer = async (running: Running, question: RegExp, text: string): Promise<void> => {
    await running.shows(question);
    running.child.stdin!.write(`${text}\n`);
  };

  const init = typed('init');
  await answer(init, /Which folder does the agent work in\?/, join(hob.folder, 'config/project'));
  await answer(init, /What may it do there\?/, 'ask');
  await answer(init, /Which commands may it run\?/, '');
  expect(await init.ended).toBe(0);

  const host = typed('serve');
  await host.shows(/see its requests/);
  expect(host.out).toMatch(/ {2}edit, after a person said yes/);
  expect(await shown('status')).toMatch(/in the mode cautious/);
  writeFileSync(join(hob.folder, 'agent.mjs'), FIRST_AGENT);
  const agent = typed('start', '--', process.execPath, '--import', resolveHook, join(hob.folder, 'agent.mjs'));
  await agent.shows(/reads one/);

  const inbox = await hob.until(
    () => shown('inbox'),
    (text) => /^R1 /m.test(text),
  );
  expect(inbox).toMatch(/^id +session +waits +time to live +asks\nR1 +S1 +yes +\d+ min +.*as “edit”/m);
  const grant = typed('grant', 'R1', '--for', '15m');
  await answer(grant, /within 15 min[\s\S]*Approve\? \(yes or no\)/, 'yes');
  expect(await grant.ended).toBe(0);
  await agent.shows(/wrote first/);
  expect(readFileSync(file, 'utf8')).toBe('first\n');

  const list = await shown('list');
  const id = /^(G\d+) +S1 +edit +live +19 +15 min/m.exec(list)?.[1] ?? list;
  expect(await shown('ledger', 'show', '--grant', id)).toMatch(/method=write/);
  expect(await shown('narrow', id, '--uses', '1')).toMatch(new RegExp(`^${id} {2}“S1” {2}“edit” {2}1 use left`));
  agent.child.stdin!.write('second\n');
  await agent.shows(/wrote second/);
  expect(await shown('revoke', id)).toContain(`revoked ${id}`);
  agent.child.stdin!.write('third\n');
  await hob.until(
    () => shown('inbox'),
    (text) => /^R2 /m.test(text),
  );
  expect(await shown('refuse', 'R2')).toContain('refused R2');
  await agent.shows(/refused denied/);
  expect(readFileSync(file, 'utf8')).toBe('second\n');
  expect(await shown('ledger', 'verify')).toMatch(/^the ledger is whole/);

  expect(await shown('backup', 'copy.db')).toMatch(/^wrote \S+copy\.db: guard it like the state/);
  agent.child.stdin!.write('end\n');
  expect(await agent.ended).toBe(4);
  expect(await shown('stop')).toMatch(/^stopped: every grant is revoked/);
  expect(await host.ended).toBe(0);
  expect(await shown('restore', '--state', 'again', 'copy.db')).toMatch(/Grants with a limit wait/);
  const again = typed('serve', '--state', 'again');
  await again.shows(/hob confirm G3 lets one work[\s\S]*see its requests|see its requests[\s\S]*hob confirm G3/);
  // The grant of `files` was live in the backup. It waits until a person has looked.
  expect(await shown('list', '--all', '--state', 'again')).toMatch(/^G1 +S1 +files +suspended/m);
  expect(await shown('confirm', 'G1', '--state', 'again')).toBe('G1 is confirmed\n');
  expect(await shown('list', '--state', 'again')).toMatch(/^G1 +S1 +files +live/m);
  expect(await shown('ledger', 'verify', '--state', 'again')).toMatch(/^the ledger is whole/);
  expect(await shown('stop', '--state', 'again')).toMatch(/^stopped/);
  expect(await again.ended).toBe(0);
}, 600_000);
