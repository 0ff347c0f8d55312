/** Starts machines of a cluster, each as a process of its own. */
import { type ChildProcess, fork } from 'node:child_process';

export interface Machine {
  readonly child: ChildProcess;
  /** The address of its door. */
  readonly url: string;
}

/** The object behind the cap `bell`, which every tenant has. */
export interface Bell {
  ring(): Promise<string>;
}

/** Returns when its door is open. Adds the name of each tenant that it opens to `open`. */
export function startMachine(url: string, name: string, stateDir: string, open: Set<string>): Promise<Machine> {
  const args = [url, name, stateDir];
  const child = fork(new URL('cluster-machine.ts', import.meta.url), args, { execArgv: [...process.execArgv, '--expose-gc'] }); // biome-ignore format: one line
  return new Promise((ready) =>
    child.on('message', (said: { readonly url?: string; readonly open?: string }) => {
      if (said.open !== undefined) open.add(said.open);
      if (said.url !== undefined) ready({ child, url: said.url });
    }),
  );
}
