/** A mechanism that is left out of the cap world is noticed: without it a run has a cap-escape. */
import fs from 'node:fs';
import { join } from 'node:path';
import { openFsCap } from '@hob/caps-fs';
import { makeShellCap } from '@hob/caps-shell';
import { expect, onTestFinished } from 'vitest';
import { hermesPython } from '../scripts/hermes.mjs';
import { requires } from '../test/needs.ts';
import { type CapSettings, openCapWorld } from './cap.ts';
import { classesWithout, LEFT_OUT } from './left-out.ts';
import { openWorlds, type Worlds } from './play.ts';
import { scratch } from './scratch.ts';
import { openSteps, playIn, ROWS } from './steps.ts';

const VERSION = '0.19.0';
const test = requires('linux', 'cc', 'userns', 'hermes');

/** One of each kind; the others by `npm run bisim -- --mutants`. */
const HERE = ['netns', 'close', 'hostname', 'setid', 'lifeline', 'pidns'];

async function worlds(): Promise<Worlds> {
  const { python = '' } = hermesPython(VERSION);
  const opened = await openWorlds(python, VERSION);
  onTestFinished(() => opened.close());
  return opened;
}
test('every step of the sandbox has a command that shows it, by a cap-escape or with the reason why there is none', () => {
  const shell = join(import.meta.dirname, '..', 'packages', 'caps-shell');
  const found = new Set<string>();
  const find = (file: string, pattern: RegExp): void => {
    for (const [, name = ''] of fs.readFileSync(file, 'utf8').matchAll(pattern)) found.add(name);
  };
  find(join(shell, 'src', 'steps.test.ts'), /(?:step: |filtered\()'([\w-]+)'/g);
  for (const name of fs.readdirSync(join(shell, 'sandbox')).filter((each) => /\.[ch]$/.test(each)))
    find(join(shell, 'sandbox', name), /WITHOUT\("([\w-]+)"\)/g);
  expect(found.size).toBeGreaterThan(50);
  const escapes = new Set(ROWS.filter((row) => row.as === undefined).map(({ step }) => step));
  const others = ROWS.filter((row) => row.as !== undefined);
  expect([...new Set([...escapes, ...others.map(({ step }) => step)])].sort()).toEqual([...found].sort());
  expect(others.filter(({ why }) => why === undefined)).toEqual([]);
  expect(found.size - escapes.size).toBeLessThanOrEqual(9);
  // The second one that is left out is a step, too.
  expect(ROWS.flatMap(({ also }) => also).filter((step) => !found.has(step))).toEqual([]);
});

test('a step of the sandbox that is left out turns up as a cap-escape, and with it there is none', async () => {
  const { path: folder, remove } = scratch('build');
  onTestFinished(remove);
  const all = await worlds();
  const { python = '' } = hermesPython(VERSION);
  const steps = await openSteps(all, python, folder);
  onTestFinished(() => steps.close());
  for (const row of ROWS.filter(({ step }) => HERE.includes(step))) {
    const { step, seen = '', lacks, noticed } = await steps.play(row);
    const class_ = row.as === undefined ? 'cap-escape' : 'unexplained: did not start';
    if (lacks === undefined)
      expect({ step, noticed, seen }).toMatchObject({ noticed: true, seen: expect.stringContaining(class_) });
  }
}, 400_000);

for (const each of LEFT_OUT)
  test(`${each.mutant} left out turns up as a cap-escape: ${each.what}`, async () => {
    const { python = '' } = hermesPython(VERSION);
    expect(await classesWithout(python, '', each)).not.toContain('cap-escape');
    expect((await classesWithout(python, each.mutant, each)).at(-1)).toBe('cap-escape');
  }, 400_000);

test('a shell of more than the work directory, and one that was granted to everybody, turn up as a cap-escape', async () => {
  const all = await worlds();
  const wide: CapSettings['shell'] = async (_, machine) => {
    const home = await openFsCap(machine.home);
    const shell = await makeShellCap({
      mounts: { [machine.home]: home },
      cwd: machine.work,
      env: { HOME: machine.home },
    });
    return {
      offered: shell,
      close: async () => {
        await shell.close();
        await home.close();
      },
    };
  };
  expect(await playIn(all, wide, 'rm -rf ~/documents')).toMatchObject([{ class: 'cap-escape' }]);
  const cap = await openCapWorld({ machine: all.machine, offers: ['files', 'shell'] });
  onTestFinished(() => cap.close());
  const row = { id: 'mutant/1', family: 'mutants', kind: 'generated' as const, steps: ['true'], needs: [] };
  expect(await all.play(row, cap)).toMatchObject({ class: 'cap-escape', note: 'without a shell: ran' });
}, 400_000);
