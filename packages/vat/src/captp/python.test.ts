/**
 * The scenarios of `test/scenarios.ts` with a third peer: `packages/bridge-python`, as the host and as the
 * client, in a process of its own. Its results and the sizes of its tables are those of TypeScript's peer
 * and leaves.
 */
import { describe, expect, onTestFinished } from 'vitest';
import { requires } from '../../../../test/needs.ts';
import { PythonPeer } from '../../test/python-peer.ts';
import { enterOurs, ourFixture, type Side, serveOurs } from '../../test/scenario-sides.ts';
import { SCENARIOS, type World } from '../../test/scenarios.ts';
import { E, type Far, openVats, release, type Vats } from '../index.ts';
import { type Connection, captp } from './captp.ts';
import type { Duplex } from './session/duplex.ts';
import type { CapTPStats } from './session/session.ts';
import { memoryPair } from './transport/memory-pair.ts';

interface PySide {
  fixture(): object;
  send(to: unknown, method: string, args: readonly unknown[]): unknown;
  sendOnly(to: unknown, method: string, args: readonly unknown[]): void;
  release(reference: unknown): void;
}
interface PyPuppet {
  enter(connection: number): PySide;
}
const counts = ['questions', 'answers', 'imports', 'exports', 'promises'] as const;

/** Starting one costs some tenths of a second, so it is one for all. */
let python: PythonPeer;
let worlds = 0;

abstract class Played implements World {
  protected readonly ours: Connection[] = [];
  /** Numbers of the Python side's connections. */
  protected readonly theirs: number[] = [];
  readonly #wires = new Map<Side, Duplex>();
  #before: readonly CapTPStats[] | undefined;

  protected abstract side(ours: Duplex, theirs: Duplex): Promise<Side>;

  async enter(): Promise<Side> {
    const [a, b] = memoryPair();
    const side = await this.side(a, b);
    this.#wires.set(side, a);
    return side;
  }

  cut(side: Side): void {
    this.#wires.get(side)?.close(1006, 'the wire was cut');
  }

  async quiet(): Promise<void> {
    for (let i = 0; i < 6; i += 1) {
      await python.ask({ ask: 'quiet' });
      for (let j = 0; j < 4; j += 1) await new Promise((resolve) => setImmediate(resolve));
    }
  }

  async left(): Promise<Readonly<Record<string, number>>> {
    const stats = async (): Promise<readonly CapTPStats[]> => [
      ...this.ours.map((connection) => connection.stats()),
      ...(await python.stats(this.theirs)),
    ];
    await this.quiet();
    this.#before ??= await stats();
    let left: Record<string, number> = {};
    for (let i = 0; i < 10; i += 1) {
      (globalThis as unknown as { gc(): void }).gc();
      await this.quiet();
      const now = await stats();
      left = Object.fromEntries(
        counts.map((name) => [
          name,
          now.reduce((sum, each, at) => sum + Math.max(0, each[name] - (this.#before?.[at]?.[name] ?? 0)), 0),
        ]),
      );
      if (Object.values(left).every((count) => count === 0)) break;
    }
    return left;
  }

  async close(): Promise<void> {
    for (const wire of this.#wires.values()) wire.close(1000, 'done');
    for (const connection of this.ours) connection.close();
    await Promise.all(this.ours.map(({ closed }) => closed));
    await this.quiet();
    for (const connection of this.ours)
      expect(connection.stats()).toEqual({ questions: 0, answers: 0, imports: 0, exports: 0, promises: 0, bytes: 0 });
  }
}

class PythonHost extends Played {
  readonly #world = (worlds += 1);

  protected async side(ours: Duplex, theirs: Duplex): Promise<Side> {
    this.theirs.push(python.join(theirs, { open: 'host', world: this.#world }));
    const side = enterOurs(ours, 'hob.1');
    this.ours.push(side.connection as Connection);
    return side;
  }
}

class PythonClient extends Played {
  readonly #fixture: object;
  readonly #puppet: Far<PyPuppet>;

  constructor(vats: Vats) {
    super();
    this.#fixture = ourFixture(vats.vat('host'));
    const [a, b] = memoryPair();
    this.theirs.push(python.join(b, { open: 'puppet' }));
    const control = captp<PyPuppet>(a);
    this.ours.push(control);
    this.#puppet = control.bootstrap;
  }

  protected async side(ours: Duplex, theirs: Duplex): Promise<Side> {
    const connection = serveOurs(ours, 'hob.1', this.#fixture);
    this.ours.push(connection);
    const number = python.join(theirs);
    this.theirs.push(number);
    const side = (await E(this.#puppet).enter(number)) as unknown as Far<PySide>;
    return {
      ...enterNothing,
      fixture: await E(side).fixture(),
      send: (to, method, ...args) => E(side).send(to as never, method, args as never) as Promise<unknown>,
      sendOnly: (to, method, ...args) => void E.sendOnly(side).sendOnly(to as never, method, args as never),
      release: (reference) => {
        E.sendOnly(side).release(reference as never);
        release(reference as Far<unknown>);
      },
      connection,
    };
  }
}

/** The part of a side that is made at this end, wherever it sends from. */
const enterNothing: Pick<Side, 'far' | 'promise'> = (() => {
  const { far, promise, connection } = enterOurs(memoryPair()[0], 'hob.1');
  connection?.close();
  return { far, promise };
})();

describe('Python', () => {
  const title = requires('python');
  title.beforeAll(async () => {
    python = new PythonPeer();
    await python.ready().catch(() => {});
  });
  title.afterAll(() => python.end());

  for (const { group, name, run, is } of SCENARIOS) {
    title(`a host in Python: ${group}: ${name}`, async () => {
      const world = new PythonHost();
      onTestFinished(() => world.close());
      expect(await outcome(run(world))).toEqual(is);
    });
    title(`a client in Python: ${group}: ${name}`, async () => {
      const vats = await openVats();
      const world = new PythonClient(vats);
      onTestFinished(async () => {
        await world.close();
        await vats.close();
      });
      expect(await outcome(run(world))).toEqual(is);
    });
  }
});

const outcome = (played: Promise<unknown>): Promise<unknown> =>
  played.catch((error: Error & { code?: string }) => `broken ${error.code ?? error.message}`);
