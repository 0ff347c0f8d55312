/**
 * A call at a front door, and a call through the front door of another machine, which relays it over TLS with pinned
 * keys. The peer is the same call at a door of one host. The host and the door between are processes of their own.
 */
import './lockdown.ts';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SessionFace } from '@hob/host';
import { connect, E, type Far } from '@hob/vat';
import { certificate } from '../test/certificate.ts';
import type { MachineOptions, MachineReady } from './front-machine.ts';
import type { Case, Side, Suite } from './measure.ts';

interface Bell {
  ring(n: number): Promise<number>;
}

const folder = mkdtempSync(join(tmpdir(), 'hob-bench-front-'));
const [here, there] = [certificate('here'), certificate('there')];
const children = [0, 1].map(() => fork(new URL('front-machine.ts', import.meta.url)));

async function machine(at: number, options: Omit<MachineOptions, 'folder'>): Promise<MachineReady> {
  children[at]?.send({ ...options, folder: join(folder, String(at)) });
  return (await once(children[at] as NodeJS.EventEmitter, 'message'))[0] as MachineReady;
}

const served = await machine(0, { ...there, peers: { here: here.cert } });
const relayed = await machine(1, { ...here, peers: { there: there.cert }, there: served.link });

/** Beside the other connections of the session, so that all of them stay open. */
async function bellAt(url: string) {
  const connection = await connect<SessionFace>(`${url}/beside`, { secret: served.secret ?? '' });
  return { connection, bell: (await E(connection.bootstrap).cap('bell')) as unknown as Far<Bell> };
}

const [plain, front, relay] = [await bellAt(served.plain ?? ''), await bellAt(served.front), await bellAt(relayed.front)]; // biome-ignore format: one line

const alone = ({ bell }: typeof plain): Side => async (n) => {
  for (let i = 0; i < n; i += 1) await E(bell).ring(i);
}; // biome-ignore format: one line
const AT_ONCE = 500;
/** A call that writes nothing, so no disk hides the way. */
const reading = ({ connection }: typeof plain): Side => async (n) => {
  for (let i = 0; i < n; i += 1) await E(connection.bootstrap).caps();
}; // biome-ignore format: one line
/** In rounds of 500 calls. */
const together = ({ bell }: typeof plain): Side => async (n) => {
  for (let done = 0; done < n; done += AT_ONCE)
    await Promise.all(Array.from({ length: AT_ONCE }, (_, i) => E(bell).ring(i)));
}; // biome-ignore format: one line

const goal = { text: '<= 2.2 x', met: ({ ratio }: { readonly ratio: number }) => ratio <= 2.2 };
const entering = (url: string): Side => async (n) => {
  for (let i = 0; i < n; i += 1) {
    const { connection } = await bellAt(url);
    connection.close();
    await connection.closed;
  }
}; // biome-ignore format: one line

const one = { n: 100, rounds: 9, goal };
const many = { n: 1000, rounds: 9, goal };
const cases: readonly Case[] = [
  { name: 'a call alone, at its own front door', ...one, ours: alone(front), peer: alone(plain) },
  { name: 'a call alone, relayed over TLS by another process', ...one, ours: alone(relay), peer: alone(plain) },
  { name: 'a call alone that writes nothing, relayed', ...one, ours: reading(relay), peer: reading(plain) },
  { name: 'a call of 500 at once, at its own front door', ...many, ours: together(front), peer: together(plain) },
  { name: 'a call of 500 at once, relayed', ...many, ours: together(relay), peer: together(plain) },
  { name: 'entering and getting a cap, relayed over a new TLS connection', n: 10, rounds: 9, ours: entering(relayed.front), peer: entering(served.plain ?? '') }, // biome-ignore format: one line
];

export const suite: Suite = {
  name: 'front',
  cases,
  async close() {
    for (const { connection } of [plain, front, relay]) connection.close();
    for (const child of children) {
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    }
    rmSync(folder, { recursive: true, force: true });
  },
};
