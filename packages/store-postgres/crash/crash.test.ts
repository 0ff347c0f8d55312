/**
 * Hosts, their way to the server and the server itself are killed, stopped, cut and delayed at random, while a counter is
 * used up: no use is spent twice, no answer is forgotten, and a host that was taken over writes nothing.
 *
 * `HOB_FAULTS=1000` does as many faults; `HOB_SEED=any` draws other ones.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { verifyLedger } from '@hob/vat';
import fc from 'fast-check';
import { expect, onTestFinished } from 'vitest';
import { requires } from '../../../test/needs.ts';
import { openCluster } from '../../../test/postgres-cluster.ts';
import { chanceSeed } from '../../../test/seed.ts';
import { postgresStore } from '../src/index.ts';
import { wayTo } from '../test/way.ts';

const FAULTS = Number(process.env['HOB_FAULTS'] ?? 20);
const USES = 1_000_000;
const LEASE_MS = 1000;
const LATER_CLOCK = new URL('../../host/test/later-clock.mjs', import.meta.url).href;

/** Numbers below 1. */
function numbers(): () => number {
  const drawn = fc.sample(fc.noBias(fc.nat(999_999)), { seed: chanceSeed, numRuns: 6 * FAULTS + 10 });
  return () => (drawn.pop() ?? 0) / 1_000_000;
}

/** The lines that all hosts of a run printed. */
class Said {
  readonly effects: number[] = [];
  readonly acks: number[] = [];
  readonly left: number[] = [];
  /** Lines of any kind, to wait for the next one. */
  lines = 0;

  take(line: string): void {
    const [kind, number] = line.split(' ');
    this.lines += 1;
    if (kind === 'effect') this.effects.push(Number(number));
    if (kind === 'ack') this.acks.push(Number(number));
    if (kind === 'left') this.left.push(Number(number));
  }
}

class HostLife {
  readonly child: ChildProcess;
  readonly over: Promise<void>;
  /** Its clock is so many ms ahead of the clock of the others. */
  constructor(url: string, schema: string, said: Said, later = 0) {
    const program = join(import.meta.dirname, 'child.ts');
    const args = ['--import', LATER_CLOCK, program, url, schema, String(LEASE_MS), String(USES)];
    const env = { ...process.env, HOB_TEST_LATER: String(later) };
    this.child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
    let rest = '';
    this.child.stdout?.on('data', (bytes) => {
      const lines = `${rest}${bytes}`.split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) said.take(line);
    });
    this.over = new Promise((then) => this.child.once('close', () => then()));
  }
  get isOver(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }
  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.over;
  }
}

const test = requires('postgres');

test('over kills, stops, cuts, delays and restarts no use is spent twice, no answer is forgotten, and nobody writes after a take-over', async () => {
  const random = numbers();
  const cluster = await openCluster();
  onTestFinished(() => cluster.remove());
  const way = await wayTo(cluster);
  onTestFinished(() => way.close());
  const schema = 'crash';
  const said = new Said();
  const started: HostLife[] = [];
  const start = (): HostLife => {
    // No two machines agree about the time, and each start finds another one.
    const life = new HostLife(way.url, schema, said, Math.floor(random() * 7_200_000));
    started.push(life);
    return life;
  };
  onTestFinished(async () => {
    await Promise.all(started.map((life) => life.kill()));
  });
  let host = start();
  /** Waits until a host answers uses, and starts one where none is left. */
  const works = async (): Promise<void> => {
    for (const before = said.acks.length; said.acks.length < before + 5; await wait(5)) if (host.isOver) host = start();
  };
  const faults: Readonly<Record<string, () => Promise<void>>> = {
    'kill -9': () => host.kill(),
    async 'stopped for longer than its lease, while another takes over'() {
      const old = host;
      old.child.kill('SIGSTOP');
      host = start();
      await works();
      const left = said.left.length;
      old.child.kill('SIGCONT');
      // It says at most what was on its way; it opens nothing, and ends.
      await old.over;
      expect(said.left.length).toBe(left);
    },
    async 'stopped for a moment'() {
      host.child.kill('SIGSTOP');
      await wait(random() * 300);
      host.child.kill('SIGCONT');
    },
    async 'connections are cut'() {
      await way.is('cut');
      await wait(random() * 200);
      await way.is('open');
    },
    async 'answers are lost'() {
      await way.is('mute');
      await wait(random() * 200);
      await way.is('open');
    },
    async 'everything is late'() {
      await way.is('holds');
      await wait(random() * 500);
      await way.is('open');
    },
    async 'cut off for longer than a host waits'() {
      await way.is('swallows');
      await wait(2500 + random() * 1000);
      await way.is('open');
    },
    async 'a third host asks for the store'() {
      const third = start();
      while (!third.isOver && !host.isOver) await wait(5);
      // It is refused, unless it came just when the other one ended.
      if (!third.isOver) host = third;
    },
    async 'the disk of the server is full'() {
      await cluster.sql.unsafe(`
        CREATE OR REPLACE FUNCTION ${schema}.fill() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END $$;
        CREATE TRIGGER fill BEFORE INSERT ON ${schema}.cell FOR EACH ROW EXECUTE FUNCTION ${schema}.fill()`);
      await wait(random() * 500);
      await cluster.sql.unsafe(`DROP TRIGGER fill ON ${schema}.cell`);
    },
    async 'the server ends the sessions'() {
      await cluster.sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'hob'`;
    },
    async 'the server crashes'() {
      await cluster.stop('immediate');
      await cluster.start();
      await cluster.sql`SELECT 1`.catch(() => {});
    },
  };
  const names = Object.keys(faults);
  const counts: Record<string, number> = {};
  for (let n = 0; n < FAULTS; n += 1) {
    await works();
    await wait(random() * 30);
    const name = names[Math.floor(random() * names.length)] as string;
    counts[name] = (counts[name] ?? 0) + 1;
    await faults[name]?.();
  }
  await works();
  await host.kill();

  const once = (numbers: readonly number[]): boolean => new Set(numbers).size === numbers.length;
  const seen = `seed ${chanceSeed}: ${JSON.stringify(counts)}`;
  expect(once(said.acks), seen).toBe(true);
  expect(once(said.effects), seen).toBe(true);
  // The hosts that opened one after the other found no use given back.
  expect(said.left, seen).toEqual([...said.left].sort((one, other) => other - one));
  const [fewest, before] = [Math.min(...said.acks), said.left.length];
  const last = new HostLife(cluster.url, schema, said);
  started.push(last);
  while (said.left.length === before) await wait(5);
  await last.kill();
  // Use n leaves n - 1.
  expect(said.left.at(-1), seen).toBeLessThan(fewest);
  const store = await postgresStore({ url: cluster.url, schema, look: true });
  expect(await verifyLedger(store), seen).toMatchObject({ ok: true });
  await store.close();
  if (process.env['HOB_FAULTS'] !== undefined)
    console.log(`${seen}; ${said.acks.length} uses answered, ${said.effects.length} effects, ${started.length} hosts`);
}, 3_600_000);
