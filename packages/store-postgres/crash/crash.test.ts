/**
 * Hosts, their connections to the server and the server itself are killed, stopped, cut and delayed at random, while
 * grants are used up and revoked. No use is spent twice, no answer is forgotten, nothing is let through after a
 * revocation, and a host that was taken over writes nothing. All calls of all hosts on one grant are one history, which
 * `whyNot` of `test/history/` checks.
 *
 * `HOB_FAULTS=1000` makes 1,000 faults. `HOB_SEED=any` draws other ones.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { verifyLedger } from '@hob/vat';
import fc from 'fast-check';
import { expect, onTestFinished } from 'vitest';
import { type Call, whyNot } from '../../../test/history/grant-history.ts';
import { requires } from '../../../test/needs.ts';
import { openCluster } from '../../../test/postgres-cluster.ts';
import { type Way, wayTo } from '../../../test/postgres-way.ts';
import { chanceSeed } from '../../../test/seed.ts';
import { postgresStore } from '../src/index.ts';

const FAULTS = Number(process.env['HOB_FAULTS'] ?? 20);
/** How many uses each grant has. */
const USES = 40;
const LEASE_MS = 1000;
/** The test fails if no host answers for this time, or if a host does not end. */
const SILENCE_MS = 60_000;
const LATER_CLOCK = new URL('../../host/test/later-clock.mjs', import.meta.url).href;

/** Returns a function that draws numbers below 1. */
function numbers(): () => number {
  const drawn = fc.sample(fc.noBias(fc.nat(999_999)), { seed: chanceSeed, numRuns: 6 * FAULTS + 10 });
  return () => (drawn.pop() ?? 0) / 1_000_000;
}

interface Effect {
  readonly grant: string;
  readonly left: number;
  readonly at: number;
}

/** The lines that all hosts of a run printed. */
class Said {
  readonly effects: Effect[] = [];
  /** The number of hosts that have read how many uses the previous host left. */
  opened = 0;
  /** The number of answers of any kind. It shows that hosts work. */
  answers = 0;
  /** The grant that the next host goes on with. */
  latest = 0;
  readonly #calls = new Map<string, { readonly grant: string; readonly call: Call }>();

  take(host: number, line: string): void {
    const [kind, ...words] = line.split(' ');
    const at = Number(words.at(-1));
    if (kind === 'open') this.opened += 1;
    if (kind === 'effect') this.effects.push({ grant: words[0] as string, left: Number(words[1]), at });
    const id = `${host}/${words[0]}`;
    if (kind === 'call') {
      const [, grant = '', of] = words;
      this.latest = Math.max(this.latest, Number(grant));
      const call = { kind: of as Call['kind'], from: at, to: Number.POSITIVE_INFINITY, answer: undefined };
      this.#calls.set(id, { grant, call });
    }
    const made = kind === 'back' ? this.#calls.get(id) : undefined;
    if (made === undefined) return;
    this.answers += 1;
    const answer = (/^\d+$/.test(words[1] as string) ? Number(words[1]) : words[1]) as Call['answer'];
    this.#calls.set(id, { ...made, call: { ...made.call, to: at, answer } });
  }

  /** The calls of each grant, by its name. */
  get histories(): ReadonlyMap<string, Call[]> {
    const histories = new Map<string, Call[]>();
    for (const { grant, call } of this.#calls.values()) histories.set(grant, [...(histories.get(grant) ?? []), call]);
    // An effect shows that its use was charged, also where the answer was lost.
    for (const { grant, left, at } of this.effects) {
      const calls = histories.get(grant) as Call[];
      if (!calls.some(({ kind, answer }) => kind === 'use' && answer === left))
        calls.push({ kind: 'use', from: 0, to: at, answer: left });
    }
    return histories;
  }
}

class HostLife {
  static #count = 0;
  readonly child: ChildProcess;
  readonly over: Promise<void>;
  readonly way: Way;
  /** The clock of this host is `later` ms ahead. */
  constructor(way: Way, schema: string, said: Said, later = 0) {
    this.way = way;
    const program = join(import.meta.dirname, 'child.ts');
    const given = [way.url, schema, LEASE_MS, USES, said.latest].map(String);
    const env = { ...process.env, HOB_TEST_LATER: String(later) };
    this.child = spawn(process.execPath, ['--import', LATER_CLOCK, program, ...given], {
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const host = (HostLife.#count += 1);
    let rest = '';
    this.child.stdout?.on('data', (bytes) => {
      const lines = `${rest}${bytes}`.split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) said.take(host, line);
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

test('over kills, stops, cuts, delays and restarts no use is spent twice, no answer is forgotten, no use comes after a revocation, and nobody writes after a take-over', async () => {
  const random = numbers();
  const cluster = await openCluster();
  onTestFinished(() => cluster.remove());
  // A host that takes over reaches the server through another proxy than the previous one.
  const ways = [await wayTo(cluster), await wayTo(cluster)] as const;
  onTestFinished(async () => void (await Promise.all(ways.map((way) => way.close()))));
  const schema = 'crash';
  const said = new Said();
  const started: HostLife[] = [];
  const start = (besides?: HostLife): HostLife => {
    const way = besides?.way === ways[0] ? ways[1] : ways[0];
    // Clocks of machines differ, so each start gets another clock.
    const life = new HostLife(way, schema, said, Math.floor(random() * 7_200_000));
    started.push(life);
    return life;
  };
  onTestFinished(async () => {
    await Promise.all(started.map((life) => life.kill()));
  });
  let host = start();
  const counts: Record<string, number> = {};
  const seen = (): string => `seed ${chanceSeed}: ${JSON.stringify(counts)}`;
  /** Waits for it, and starts a host where none is left. */
  const until = async (isDone: () => boolean): Promise<void> => {
    for (const end = performance.now() + SILENCE_MS; !isDone(); await wait(5)) {
      if (host.isOver) host = start(host);
      if (performance.now() > end) throw new Error(`no host answers: ${seen()}`);
    }
  };
  const ends = async (...lives: readonly HostLife[]): Promise<void> => {
    for (const end = performance.now() + SILENCE_MS; !lives.some(({ isOver }) => isOver); await wait(5))
      if (performance.now() > end) throw new Error(`a host does not end: ${seen()}`);
    await Promise.all(lives.filter(({ isOver }) => isOver).map(({ over }) => over));
  };
  const works = async (): Promise<void> => {
    const before = said.answers;
    await until(() => said.answers >= before + 5);
  };
  /** Lets another host take the store while `old` does not know it. After `goOn`, `old` must end and do nothing new. */
  const takesOver = async (old: HostLife, goOn: () => unknown): Promise<void> => {
    const before = said.opened;
    host = start(old);
    await until(() => said.opened > before);
    await works();
    const { opened } = said;
    await goOn();
    await ends(old);
    expect(said.opened).toBe(opened);
  };
  const faults: Readonly<Record<string, () => Promise<void>>> = {
    'kill -9': () => host.kill(),
    async 'stopped for longer than its lease, while another takes over'() {
      const old = host;
      old.child.kill('SIGSTOP');
      await takesOver(old, () => old.child.kill('SIGCONT'));
    },
    async 'stopped for a moment'() {
      host.child.kill('SIGSTOP');
      await wait(random() * 300);
      host.child.kill('SIGCONT');
    },
    async 'connections are cut'() {
      const { way } = host;
      await way.is('cut');
      await wait(random() * 200);
      await way.is('open');
    },
    async 'answers are lost'() {
      const { way } = host;
      await way.is('mute');
      await wait(random() * 200);
      await way.is('open');
    },
    async 'everything is late'() {
      const { way } = host;
      await way.is('holds');
      await wait(random() * 500);
      await way.is('open');
    },
    async 'cut off for longer than a host waits'() {
      const { way } = host;
      await way.is('swallows');
      await wait(2500 + random() * 1000);
      await way.is('open');
    },
    async 'what a host sent arrives after another has taken over'() {
      const old = host;
      await old.way.is('holds');
      await takesOver(old, () => old.way.is('open'));
    },
    async 'a third host asks for the store'() {
      const third = start(host);
      await ends(third, host);
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
  for (let n = 0; n < FAULTS; n += 1) {
    await works();
    await wait(random() * 30);
    const name = names[Math.floor(random() * names.length)] as string;
    counts[name] = (counts[name] ?? 0) + 1;
    await faults[name]?.();
  }
  await works();
  await host.kill();

  // The last host finds what the others left.
  const last = new HostLife(ways[0], schema, said);
  started.push(last);
  for (const before = said.opened; said.opened === before; await wait(5));
  await last.kill();
  const effects = said.effects.map(({ grant, left }) => `${grant}/${left}`);
  expect(new Set(effects).size, seen()).toBe(effects.length);
  for (const [grant, history] of said.histories)
    expect(whyNot(USES, history), `${seen()}: grant ${grant}: ${JSON.stringify(history)}`).toBe(undefined);
  const store = await postgresStore({ url: cluster.url, schema, look: true });
  expect(await verifyLedger(store), seen()).toMatchObject({ ok: true });
  await store.close();
  if (process.env['HOB_FAULTS'] !== undefined)
    console.log(`${seen()}; ${said.histories.size} grants, ${said.answers} answers, ${effects.length} effects, ${started.length} hosts`); // biome-ignore format: one line
}, 3_600_000);
