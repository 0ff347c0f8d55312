/**
 * Plays the sandbox without one of its steps, and with it, and says what of it turned up.
 *
 * Promise: a row counts only where the same command comes to nothing with the step in place. A step that this machine cannot show is told
 * with the reason. Never for rows that destroy. What each step holds by itself: `packages/caps-shell/src/steps.test.ts`.
 */
import fs from 'node:fs';
import { join } from 'node:path';
import type { Ended, ShellCap } from '@hob/caps-shell';
import { driver } from '@hob/vat';
import { type CapSettings, type CapWorld, openCapWorld } from './cap.ts';
import { CLASSES, type Judged } from './classes.ts';
import { runLeaky, sandboxWithout, stepsTool } from './leaky.ts';
import type { Worlds } from './play.ts';
import { until } from './steps/outside.ts';
import { TAKEN } from './steps/rows.ts';
import type { At, Row, Setting } from './steps/step.ts';

export { ROWS } from './steps/rows.ts';

export interface Compared {
  readonly step: string;
  readonly also: readonly string[];
  /** The effect without it, or why it cannot be shown here. */
  readonly seen?: string;
  readonly lacks?: string;
  /** It turned up, and only because of that. */
  readonly noticed: boolean;
}

export interface Steps {
  play(row: Row): Promise<Compared>;
  close(): Promise<void>;
}

/** A cap world in which the sandbox is another one for each command. Builds into `folder`. */
export async function openSteps(all: Worlds, python: string, folder: string): Promise<Steps> {
  const at: At = { ...all, python, folder, tool: stepsTool(folder) };
  let run = async (): Promise<Ended> => await Promise.reject(new Error('nothing is played'));
  const shell = driver<Pick<ShellCap, 'run'>>({ run: () => run() });
  const cap = await openCapWorld({
    machine: all.machine,
    shell: async () => ({ offered: shell, close: async () => {} }),
  });
  const play = async (row: Row, left: readonly string[]): Promise<Judged> => {
    const text = row.text.replaceAll(
      /@(\w+)@/g,
      (_, name: string) =>
        ({
          BASE: all.machine.base,
          HOME: all.machine.home,
          PORT: String(all.port),
          MARK: all.mark,
          TAKEN: String(TAKEN),
        })[name] ?? '',
    );
    const built = sandboxWithout(folder, left);
    const world: CapWorld = {
      ...cap,
      run: async () => {
        const setting = (await row.setting?.(at)) ?? {};
        run = () => runLeaky(all.machine, python, { built, tool: at.tool, text, launched: setting.launched ?? {} });
        return await watched(setting, all.machine.work, () => cap.run([text]));
      },
    };
    // Elsewhere it would only wait for what nobody there does.
    const steps = [row.everywhere ? text : `: ${row.step}`];
    const judged = await all.play(
      { id: `steps/${row.step}`, family: 'steps', kind: 'generated', steps, needs: [] },
      world,
    );
    return judged as Judged;
  };
  return {
    play: async (row) => {
      const { step, also, as } = row;
      const lacks = row.root && process.getuid?.() !== 0 ? 'it takes root' : row.lacks?.(at);
      if (lacks !== undefined) return { step, also, lacks, noticed: true };
      // First as it should be: what is left out may leave something behind.
      const whole = await play(row, also);
      const without = await play(row, [step, ...also]);
      const seen = `${without.class}: ${without.note}`;
      return { step, also, seen, noticed: !turnedUp(whole, as) && turnedUp(without, as) };
    },
    close: () => cap.close(),
  };
}

function turnedUp({ class: name, note = '' }: Judged, as: Row['as']): boolean {
  if (as === undefined) return name === 'cap-escape';
  const start = note.startsWith('did not start');
  return CLASSES.indexOf(name) >= CLASSES.indexOf('cap-escape') && start === (as === 'not started');
}

const LIMIT_MS = 3_000;

/** Runs it, and looks from outside meanwhile. */
async function watched(
  { secret, watch, begun, after, undo }: Setting,
  work: string,
  play: () => ReturnType<CapWorld['run']>,
): ReturnType<CapWorld['run']> {
  const [started, go] = ['started', 'go'].map((name) => join(work, name)) as [string, string];
  const effects = new Set<string>();
  const note = (effect: string | undefined): boolean => effect !== undefined && effects.add(effect).size > 0;
  try {
    let over = false;
    const running = play().finally(() => {
      over = true;
    });
    if (watch !== undefined || begun !== undefined) {
      const isUnderWay = (): boolean => over || fs.existsSync(started) || note(watch?.());
      while (!isUnderWay()) await until(isUnderWay, 1_000);
      if (!over && effects.size === 0) {
        note(await begun?.());
        if (watch !== undefined) await until(() => over || note(watch()), LIMIT_MS);
      }
      fs.writeFileSync(go, '');
    }
    const seen = await running;
    fs.rmSync(go, { force: true });
    fs.rmSync(started, { force: true });
    const output = `${seen.ended?.stdout ?? ''}${seen.ended?.stderr ?? ''}`;
    if (secret !== undefined && secret !== '' && output.includes(secret)) note('told what is not its own');
    note(await after?.(seen.ended?.status));
    return { ...seen, effects: [...effects] };
  } finally {
    undo?.();
  }
}

/** In a cap world of its own. */
export async function playIn(
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
