/**
 * The example of `@hob/cluster`: three machines, one database, and an agent and a granter who connect to any machine.
 *
 * Machines are killed, stopped, ended and started at random while an agent of each tenant uses its grant.
 * `HOB_FAULTS=100` makes 100 faults. `HOB_SEED=any` draws other ones.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type Granter, openHost, type SessionFace } from '@hob/host';
import { postgresStore } from '@hob/store-postgres';
import { connect, E, type Far, verifyLedger } from '@hob/vat';
import fc from 'fast-check';
import { expect, onTestFinished } from 'vitest';
import { certificate } from '../test/certificate.ts';
import { deep } from '../test/depth.ts';
import { requires } from '../test/needs.ts';
import { openCluster as openServer, type Cluster as Server } from '../test/postgres-cluster.ts';
import { chanceSeed } from '../test/seed.ts';

const test = requires('postgres');
const FAULTS = Number(process.env['HOB_FAULTS'] ?? (deep ? 8 : 3));
const NAMES = ['alpha', 'beta', 'gamma'] as const;
const TENANTS = ['acme', 'globex'] as const;
const USES = 100_000;
const LEASE_MS = 1000;

interface Bell {
  ring(word: string): Promise<void>;
}
interface Secrets {
  readonly granter: string;
  readonly session: string;
}
interface Effect {
  readonly tenant: string;
  readonly word: string;
}

/** A process of the example. */
interface Machine {
  readonly child: ChildProcess;
  readonly over: Promise<void>;
  /** The address of its door; undefined before it is ready. */
  url: string | undefined;
}

class Site {
  readonly effects: Effect[] = [];
  readonly machines: Machine[] = [];
  readonly #folder: string;
  readonly #url: string;

  constructor(url: string) {
    this.#url = url;
    this.#folder = mkdtempSync(join(tmpdir(), 'hob-cluster-'));
    onTestFinished(() => rmSync(this.#folder, { recursive: true, force: true }));
    for (const name of NAMES) {
      const { key, cert } = certificate(name);
      writeFileSync(this.#file(name, 'key'), key);
      writeFileSync(this.#file(name, 'pem'), cert);
    }
  }

  readonly #file = (name: string, kind: string): string => join(this.#folder, `${name}.${kind}`);

  start(n: number): void {
    const name = NAMES[n] as string;
    const peers = Object.fromEntries(NAMES.filter((each) => each !== name).map((each) => [each, this.#file(each, 'pem')])); // biome-ignore format: one line
    const config = {
      ...{ name, url: this.#url, stateDir: join(this.#folder, name), door: 0, link: 0, peers, tenants: TENANTS },
      ...{ key: this.#file(name, 'key'), cert: this.#file(name, 'pem'), leaseMs: LEASE_MS },
    };
    writeFileSync(this.#file(name, 'json'), JSON.stringify(config));
    const program = join(import.meta.dirname, 'cluster-host.ts');
    const child = spawn(process.execPath, [program, this.#file(name, 'json')], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const over = new Promise<void>((then) => child.once('close', () => then()));
    const machine: Machine = { child, over, url: undefined };
    let rest = '';
    child.stdout.on('data', (bytes) => {
      const lines = `${rest}${bytes}`.split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        const [, tenant, word] = /^(\w+): (\S+)$/.exec(line) ?? [];
        if (tenant !== undefined && word !== undefined) this.effects.push({ tenant, word });
        machine.url = / is ready at (\S+)$/.exec(line)?.[1] ?? machine.url;
      }
    });
    this.machines[n] = machine;
    onTestFinished(async () => {
      child.kill('SIGKILL');
      await over;
    });
  }

  /** Starts each machine that has ended. */
  mend(except?: number): void {
    for (const [n, { child }] of this.machines.entries())
      if (n !== except && (child.exitCode !== null || child.signalCode !== null)) this.start(n);
  }

  /** The doors of the machines that are ready. One of them may be stopped. */
  get doors(): readonly string[] {
    return this.machines.flatMap(({ url, child }) =>
      url !== undefined && child.exitCode === null && child.signalCode === null ? [url] : [],
    );
  }
}

/** An agent of one tenant. It enters by one door after the other, and rings its bell. */
class Agent {
  readonly calls: { readonly word: string; readonly from: number; code: string | undefined }[] = [];
  readonly #site: Site;
  readonly #tenant: string;
  readonly #secret: string;
  #isOver = false;
  readonly #running: Promise<void>;

  constructor(site: Site, tenant: string, secret: string) {
    [this.#site, this.#tenant, this.#secret] = [site, tenant, secret];
    this.#running = this.#run();
  }

  get answered(): number {
    return this.calls.filter(({ code }) => code === 'ok').length;
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    for (let visit = 0; !this.#isOver; visit += 1) {
      const { doors } = this.#site;
      const door = doors[visit % Math.max(1, doors.length)];
      const entered = door === undefined ? undefined : await this.#enter(door);
      if (entered === undefined) {
        await wait(20);
        continue;
      }
      const { bootstrap, close, closed } = entered;
      const bell = E(bootstrap).cap('bell') as unknown as Far<Bell> & Promise<unknown>;
      bell.catch(() => {}); // it breaks with the connection
      // A machine that is stopped answers nothing for a while.
      for (let n = 0; n < 20 && !this.#isOver && (await Promise.race([this.#ring(bell), wait(3000, false)])); n += 1);
      close();
      await closed;
    }
  }

  async #enter(door: string) {
    const entering = connect<SessionFace>(`${door}/${this.#tenant}`, { secret: this.#secret, patienceMs: 0 });
    const entered = await Promise.race([entering.catch(() => undefined), wait(3000, undefined)]);
    if (entered === undefined) entering.then(({ close }) => close()).catch(() => {});
    return entered;
  }

  /** Returns whether the call was carried out. */
  async #ring(bell: Far<Bell>): Promise<boolean> {
    const call = { word: `${this.#tenant}-${this.calls.length}`, from: performance.now(), code: undefined as string | undefined }; // biome-ignore format: one line
    this.calls.push(call);
    call.code = await E(bell).ring(call.word).then(() => 'ok', ({ code }: { code?: string }) => code ?? 'error'); // biome-ignore format: one line
    await wait(2);
    return call.code === 'ok';
  }
}

/** Makes a session, a granter and a grant in the store of a tenant, before the cluster serves it. */
async function prepare(server: Server, tenant: string): Promise<Secrets> {
  const folder = mkdtempSync(join(tmpdir(), 'hob-tenant-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const store = await postgresStore({ url: server.url, schema: `hob_tenant_${tenant}`, shared: true });
  const host = await openHost({ stateDir: folder, store });
  await host.offer('bell', { ring: async () => {} });
  const { granter, secret } = await host.addGranter('ann');
  const session = await host.openSession({ name: 'agent', granters: ['ann'] });
  await E(granter).grant(session.id, 'bell', 'bell', { uses: USES });
  await host.close();
  return { granter: secret, session: session.secret };
}

test('an agent and a granter enter by any door of three machines, over kills, stops and moves, and no use is spent twice', async () => {
  const server = await openServer();
  onTestFinished(() => server.remove());
  const { sql } = server;
  const secrets = await Promise.all(TENANTS.map((tenant) => prepare(server, tenant)));
  const site = new Site(server.url);
  for (const n of NAMES.keys()) site.start(n);
  await expect.poll(() => site.doors.length, { timeout: 60_000 }).toBe(3);
  const agents = TENANTS.map((tenant, n) => new Agent(site, tenant, (secrets[n] as Secrets).session));
  const drawn = fc.sample(fc.noBias(fc.nat(999_999)), { seed: chanceSeed, numRuns: 8 * FAULTS + 10 });
  const random = (below: number): number => Math.floor(((drawn.pop() ?? 0) / 1_000_000) * below);
  const counts: Record<string, number> = {};
  /** Resolves when each agent has got some more answers. Machines that have ended are started, but for `down`. */
  const works = async (down?: number): Promise<void> => {
    const before = agents.map((agent) => agent.answered);
    const end = performance.now() + 60_000;
    while (!agents.every((agent, n) => agent.answered > (before[n] as number) + 30)) {
      if (performance.now() > end) throw new Error(`a tenant is not served, seed ${chanceSeed}: ${JSON.stringify(counts)}`); // biome-ignore format: one line
      site.mend(down);
      await wait(10);
    }
  };
  const at = (n: number): Machine => site.machines[n] as Machine;
  const faults: Readonly<Record<string, (n: number) => Promise<void>>> = {
    async 'kill -9'(n) {
      at(n).child.kill('SIGKILL');
      await at(n).over;
      await works(n);
    },
    async 'stopped for longer than its lease'(n) {
      at(n).child.kill('SIGSTOP');
      await wait(LEASE_MS + random(3000));
      if (random(2) === 0) await works();
      at(n).child.kill('SIGCONT');
    },
    async 'leaves and joins'(n) {
      at(n).child.kill('SIGTERM');
      await at(n).over;
      await works(n);
    },
    async pinned(n) {
      const pin = random(3) === 0 ? null : (NAMES[n] as string);
      await sql`UPDATE hob_cluster.tenant SET pin = ${pin} WHERE name = ${TENANTS[random(2)] as string}`;
    },
  };
  const names = Object.keys(faults);
  for (let fault = 0; fault < FAULTS; fault += 1) {
    await works();
    const name = names[FAULTS < names.length ? fault : random(names.length)] as string;
    counts[name] = (counts[name] ?? 0) + 1;
    await faults[name]?.(random(3));
  }
  await works();
  // A machine may still be starting.
  await expect.poll(() => site.doors.length, { timeout: 60_000 }).toBe(3);

  for (const [n, tenant] of TENANTS.entries()) {
    const agent = agents[n] as Agent;
    const { granter, session } = secrets[n] as Secrets;
    // The granter revokes by one door while the agent goes on by others.
    await overMoves(async () => {
      const ann = await connect<Granter>(`${site.doors[n]}/${tenant}`, { secret: granter });
      try {
        // If an earlier attempt lost its answer, the grant may be revoked already.
        for (const { id } of await E(ann.bootstrap).list()) await E(ann.bootstrap).revoke({ grant: id });
      } finally {
        ann.close();
        await ann.closed;
      }
    });
    const revokedAt = performance.now();
    await wait(200);
    await agent.stop();
    const words = site.effects.filter((each) => each.tenant === tenant).map(({ word }) => word);
    expect(new Set(words).size).toBe(words.length);
    // Each call that was answered had its effect. An effect may have no answer, and a charge may have no effect.
    const done = agent.calls.filter(({ code }) => code === 'ok').map(({ word }) => word);
    expect(done.filter((word) => !words.includes(word))).toEqual([]);
    const late = agent.calls.filter(({ from }) => from > revokedAt);
    expect(late.filter(({ code, word }) => code === 'ok' || words.includes(word))).toEqual([]);
    expect(agent.calls.filter(({ code }) => code === undefined)).toEqual([]);
    for (const door of site.doors) {
      const refused = overMoves(async () => {
        const again = await connect<SessionFace>(`${door}/${tenant}`, { secret: session });
        try {
          await E(E(again.bootstrap).cap('bell') as unknown as Far<Bell>).ring('late');
        } finally {
          again.close();
          await again.closed;
        }
      });
      await expect(refused).rejects.toMatchObject({ code: 'revoked' });
    }
    const charges = await linesOf(server, tenant);
    expect(words.length).toBeLessThanOrEqual(charges);
    expect(done.length).toBeGreaterThan(30 * FAULTS);
  }
  for (const { child, over } of site.machines) {
    child.kill('SIGTERM');
    await over;
    expect(child.exitCode).toBe(0);
  }
  for (const tenant of TENANTS) {
    const store = await postgresStore({ url: server.url, schema: `hob_tenant_${tenant}`, look: true });
    expect(await verifyLedger(store)).toMatchObject({ ok: true });
    await store.close();
  }
  if (process.env['HOB_FAULTS'] !== undefined) console.log(`seed ${chanceSeed}: ${JSON.stringify(counts)}; ${agents.map((agent) => `${agent.calls.length} calls, ${agent.answered} answers`).join('; ')}`); // biome-ignore format: one line
}, 3_600_000);

/** Repeats `act` while it fails because the tenant is moving. Gives up after a minute. */
async function overMoves(act: () => Promise<void>): Promise<void> {
  for (const end = performance.now() + 60_000; ; await wait(50)) {
    try {
      return await act();
    } catch (error) {
      const { code } = error as { readonly code?: string };
      const isAway = code === 'disconnected' || code === 'unavailable' || code === 'unknown-outcome';
      if (!isAway || performance.now() > end) throw error;
    }
  }
}

/** How often the ledger of a tenant has the call of a bell. */
async function linesOf({ sql }: Server, tenant: string): Promise<number> {
  const rows = await sql.unsafe(`SELECT convert_from(bytes, 'UTF8') AS text FROM hob_tenant_${tenant}.line`);
  return rows.filter(({ text }) => /"k":"call"/.test(String(text)) && /"ring"/.test(String(text))).length;
}
