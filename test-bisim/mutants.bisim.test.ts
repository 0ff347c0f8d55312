/** What is left out of the cap world is noticed: a run without it is not one without a cap-escape. */
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { openFsCap } from '@hob/caps-fs';
import { makeShellCap } from '@hob/caps-shell';
import { expect, onTestFinished } from 'vitest';
import { hermesPython } from '../scripts/hermes.mjs';
import { requires } from '../test/needs.ts';
import { type CapSettings, openCapWorld } from './cap.ts';
import type { Judged } from './classes.ts';
import { leakyShell, sandboxWithout } from './leaky.ts';
import { openWorlds, type Worlds } from './play.ts';

const VERSION = '0.19.0';
const test = requires('linux', 'cc', 'userns', 'hermes');

/** Harmless, and each needs what the step takes away. */
const STEPS: Readonly<Record<string, (all: Worlds) => string>> = {
  netns: ({ port }) => `cat notes.txt > /dev/tcp/127.0.0.1/${port}`,
  detach: ({ machine }) => `cat /..${machine.home}/.netrc`,
  close: () => 'for n in 6 7 8 9 1{0..9} 2{0..9}; do cat /proc/self/fd/$n/../.netrc; done 2> /dev/null',
  readonly: ({ machine }) => `echo x > ${machine.base}/srv/new`,
};

async function worlds(): Promise<Worlds> {
  const { python = '' } = hermesPython(VERSION);
  const opened = await openWorlds(python, VERSION);
  onTestFinished(() => opened.close());
  return opened;
}
async function playIn(
  all: Worlds,
  shell: CapSettings['shell'],
  ...texts: string[]
): Promise<readonly (Judged | undefined)[]> {
  const cap = await openCapWorld({ machine: all.machine, ...(shell === undefined ? {} : { shell }) });
  const judged: (Judged | undefined)[] = [];
  try {
    for (const text of texts)
      judged.push(
        await all.play({ id: 'mutant/0', family: 'mutants', kind: 'generated', steps: [text], needs: [] }, cap),
      );
  } finally {
    await cap.close();
  }
  return judged;
}

test('a step of the sandbox that is left out turns up as a cap-escape, and with it there is none', async () => {
  const folder = fs.mkdtempSync(join(os.tmpdir(), 'hob-bisim-build-'));
  onTestFinished(() => fs.rmSync(folder, { recursive: true, force: true }));
  const all = await worlds();
  const leaky = (step?: string): CapSettings['shell'] => {
    const built = sandboxWithout(folder, step);
    return (_, machine) => leakyShell(built)(machine);
  };
  const texts = Object.values(STEPS).map((textOf) => textOf(all));
  const whole = await playIn(all, leaky(), ...texts);
  expect(whole.map((each) => each?.cap.effects)).toEqual(texts.map(() => []));
  for (const [n, step] of Object.keys(STEPS).entries()) {
    const [without] = await playIn(all, leaky(step), texts[n] ?? '');
    expect({ step, class: without?.class }).toEqual({ step, class: 'cap-escape' });
  }
}, 180_000);

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
}, 120_000);

// One of several: a path that goes upwards is stopped by more than its grammar (`fs-dotdot`), and nothing then comes of leaving that out.
test('a directory cap that follows links out turns up as a cap-escape', async () => {
  const { python = '' } = hermesPython(VERSION);
  const args = ['--no-warnings', join(import.meta.dirname, 'mutant-child.ts'), python, 'shared/team.txt'];
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    env: { ...process.env, HOB_MUTANT: 'symlink' },
  });
  expect(stdout.trim()).toBe('cap-escape');
}, 120_000);
