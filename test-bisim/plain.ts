/** Plain bash on the whole machine, in a cage: what a command does where nothing is in its way. All others are compared with it. */
import { type Cage, openCage } from './cage.ts';
import { interpreter } from './hermes.ts';
import type { Machine, Place } from './machine.ts';

export interface Outcome {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}
export interface Plain {
  /** Undefined: the command took the cage down. */
  run(text: string): Promise<Outcome | undefined>;
  reached(): number;
  renew(): Promise<void>;
  close(): Promise<void>;
}

export async function openPlain(settings: {
  readonly python: string;
  readonly machine: Machine;
  readonly twin: Place;
  readonly port: number;
  readonly mark: string;
}): Promise<Plain> {
  const cage: Cage = await openCage({ ...settings, ...asCaged(settings.python) });
  return {
    run: async (command) => {
      const answer = await cage.ask({ op: 'run', command });
      if (answer === undefined) return undefined;
      if (answer['broken']) await cage.renew();
      return {
        status: Number(answer['status']),
        stdout: String(answer['stdout']),
        stderr: String(answer['stderr']),
      };
    },
    reached: () => cage.reached(),
    renew: () => cage.renew(),
    close: () => cage.close(),
  };
}

function asCaged(python: string): { readonly python: string; readonly trees: Readonly<Record<string, string>> } {
  const { program, trees } = interpreter(python);
  return { python: program, trees };
}
