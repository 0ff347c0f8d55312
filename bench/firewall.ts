/**
 * The cost of the firewall: an assessment alone, and a call under `enforce` beside the same call without a firewall.
 *
 * Both hosts run in processes of their own and are opened as a program opens them. Each call has another argument, as
 * calls of agents have: an equal one would be stopped.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { assess, effectOf, makeFirewall, waits } from '@hob/firewall';
import type { CallFacts } from '@hob/host';
import { connect, E, type Far } from '@hob/vat';
import type { Connected } from '@hob/vat/wire';
import type { Service, Shipped } from './as-shipped-server.ts';
import type { Case, Side, Suite } from './measure.ts';

const folder = mkdtempSync(join(tmpdir(), 'hob-bench-firewall-'));
const open: Connected<object>[] = [];
const servers = ['enforce', 'none'].map((mode) => fork(new URL('as-shipped-server.ts', import.meta.url), [join(folder, mode), mode], { execArgv: process.execArgv.filter((flag) => !flag.startsWith('--cpu-prof')) })); // biome-ignore format: one line
const [guarded, plain] = (await Promise.all(
  servers.map(async (server) => {
    const [told] = (await once(server, 'message')) as [Shipped];
    const peer = await connect<{ cap(petname: string): Service }>(told.url, { secret: told.free });
    open.push(peer);
    return await E(peer.bootstrap).cap('service');
  }),
)) as unknown as readonly [Far<Service>, Far<Service>];

let count = 0;
const side =
  (service: Far<Service>, method: 'ping' | 'send', atOnce = 1): Side =>
  async (n) => {
    const began = performance.now();
    for (let done = 0; done < n; done += atOnce)
      await Promise.all(Array.from({ length: atOnce }, () => E(service)[method](`hello ${(count += 1)}`)));
    return ((performance.now() - began) * 1000) / n;
  };

const goal = { text: '<= 1.05 x', met: ({ ratio }: { readonly ratio: number }) => ratio <= 1.05 };
const call = (name: string, method: 'ping' | 'send', n: number, atOnce?: number): Case => ({
  name: `under enforce: ${name}`,
  n,
  unit: 'us',
  rounds: 15,
  ours: side(guarded, method, atOnce),
  peer: side(plain, method, atOnce),
  goal,
});

const facts: CallFacts = {
  ...{
    session: 's',
    grant: 'g001',
    petname: 'service',
    offer: 'service',
    method: 'send',
    reads: [],
    waits: false,
    undoes: false,
  },
  args: ['hello'],
  effects: { ping: { class: 'A' }, send: { class: 'C', undo: 'hard' } },
  level: 'medium',
};
const decider = makeFirewall({ mode: 'enforce' });
let waiting = 0;
const below3 = { text: '<= 3 us', met: ({ ours }: { readonly ours: number }) => ours <= 3000 };

export const suite: Suite = {
  name: 'firewall',
  cases: [
    {
      name: 'an assessment: the five factors, and what follows',
      n: 100_000,
      ours: (n) => {
        for (let i = 0; i < n; i += 1) {
          const of = { ...facts, effect: effectOf(facts.method, facts.effects, facts.reads), sensitivity: 'ordinary', crisis: false } as const; // biome-ignore format: one line
          if (waits(assess(of, 'service.send'), of, { mode: 'enforce', level: 'medium' })) waiting += 1;
        }
      },
      goal: below3,
    },
    {
      name: 'a decision of the port, without an effect outside',
      n: 100_000,
      ours: (n) => {
        for (let i = 0; i < n; i += 1) if (decider.decide(facts).waits) waiting += 1;
      },
      goal: below3,
    },
    call('a reading call, one after the other', 'ping', 100),
    call('a call with an effect, one after the other', 'send', 100),
    call('reading calls, 500 at once', 'ping', 2000, 500),
  ],
  async close() {
    if (waiting > 0) throw new Error('a call that was to go on would have waited');
    for (const peer of open) peer.close();
    await Promise.all(
      servers.map(async (server) => {
        const gone = once(server, 'exit');
        server.send('close');
        await gone;
      }),
    );
    rmSync(folder, { recursive: true });
  },
};
