/** The thread of `postgres-way.ts`: passes data on between two sockets, as the state allows. */
import { connect, createServer, type Socket } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';
import type { WayState } from './postgres-way.ts';

const { here, there } = workerData as { readonly here: string; readonly there: string };
const sockets = new Set<Socket>();
let held: (() => void)[] = [];
let state: WayState = 'open';

function pass(from: Socket, to: Socket, back: boolean): void {
  const now = (act: () => void): void => void (state === (back ? 'late' : 'holds') ? held.push(act) : act());
  sockets.add(from);
  from.on('data', (bytes) => {
    if (state === 'swallows' || (state === 'mute' && back)) return;
    now(() => to.write(bytes));
  });
  from.on('error', () => {});
  from.on('close', () => {
    sockets.delete(from);
    now(() => to.end());
  });
}

const server = createServer((near) => {
  if (state === 'cut') return void near.destroy();
  const far = connect(there);
  pass(near, far, false);
  pass(far, near, true);
});

const end = (): void => {
  for (const each of sockets) each.destroy();
};

parentPort?.on('message', (next: WayState) => {
  const acts = held;
  held = [];
  if (next === 'cut' || state === 'swallows' || state === 'mute') end();
  state = next;
  for (const act of acts) act();
  parentPort?.postMessage('done');
});
server.listen(here, () => parentPort?.postMessage('open'));
