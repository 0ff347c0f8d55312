/** Measures frames of `hob.1` with many references to new objects. The cost is that of both ends. */
import { openHost, type SessionFace } from '@hob/host';
import { captp, connect, type Definition, define, E, type Far, memoryPair, openVats, spawn } from '@hob/vat';
import type { Tell } from './fields.ts';
import { lasting } from './hosts.ts';
import { folderOf, medianMs } from './times.ts';

interface Leaf {
  read(): number;
}
const LeafActor: Definition<Leaf, [n: number]> = define('growth.leaf', (_bcom, n) => ({ read: () => n }));

interface Tree {
  count(leaves: readonly unknown[]): number;
  leaves(n: number): readonly Leaf[];
}
const TreeActor: Definition<Tree, []> = define('growth.tree', () => ({
  count: (leaves) => leaves.length,
  leaves: (n) => Array.from({ length: n }, (_, i) => spawn(LeafActor(i))),
}));

const rounds = 9;

export async function measureReferences(sizes: readonly number[], tell: Tell): Promise<void> {
  const vats = await openVats();
  const vat = vats.vat('growth');
  const tree = await vat.spawn(TreeActor());
  for (const n of sizes) {
    const leaves = await vat.turn(() => Array.from({ length: n }, (_, i) => spawn(LeafActor(i))));
    tell('send n new ones', n, await medianMs(rounds, () => overNewWire(tree, (far) => E(far).count(leaves), n)));
    tell('return n new ones', n, await medianMs(rounds, () => overNewWire(tree, (far) => E(far).leaves(n), n)));
  }
  await vats.close();
  await throughGrant(sizes, tell);
}

/** A new connection each time, so that its tables do not grow from round to round. */
async function overNewWire(tree: Far<Tree>, ask: (far: Far<Tree>) => unknown, n: number): Promise<void> {
  const [near, away] = memoryPair();
  const serving = captp(near, { bootstrap: tree });
  const calling = captp<Tree>(away);
  same(await (ask(calling.bootstrap as Far<Tree>) as Promise<unknown>), n);
  calling.close();
  serving.close();
}

/** The same over a socket, through a session and a grant of a host. Each object gets a forwarder. */
async function throughGrant(sizes: readonly number[], tell: Tell): Promise<void> {
  const host = await openHost({ stateDir: folderOf('references'), definitions: [LeafActor, TreeActor] });
  await host.offer('tree', await host.vats.vat('growth').root('tree', () => TreeActor()));
  const { granter } = await host.ensureGranter('owner');
  const { url } = await host.serve();
  for (const n of sizes) {
    const call = async (round: number): Promise<void> => {
      // A session may have a limited number of actors, and pays for those that its calls make.
      const { id, secret } = await host.openSession({ name: `s${n}-${round}`, granters: ['owner'] });
      await E(granter).grant(id, 'tree', 'tree', lasting());
      const connection = await connect<SessionFace>(url, { secret });
      const tree = (await E(connection.bootstrap).cap('tree')) as unknown as Tree;
      same(await E(tree).leaves(n), n);
      connection.close();
    };
    tell('return n new ones through a grant', n, await medianMs(rounds, call));
  }
  await host.close();
}

function same(got: unknown, n: number): void {
  const count = typeof got === 'number' ? got : (got as readonly unknown[]).length;
  if (count !== n) throw new Error(`${count} of ${n} references came`);
}
