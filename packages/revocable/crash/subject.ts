/** Grants of a few uses each, in a durable store that the child uses and the test opens afterwards. */
import {
  type Definition,
  define,
  driver,
  E,
  type Far,
  openStore,
  openVats,
  type Store,
  type Table,
  table,
  type Vats,
} from '@hob/vat';
import { definitions, type GrantActor, grantOf } from '../src/index.ts';

export const USES = 40;

export interface Outside {
  act(call: number): void;
}
interface Kept {
  readonly cap: Outside;
  readonly actor: GrantActor;
}
export interface Drawer {
  /** Returns the cap of the newest grant. Makes a new grant if that one is used up. */
  current(): { readonly grant: string; readonly cap: Outside };
  left(): readonly (readonly [grant: string, left: number])[];
}
export const Drawer: Definition<Drawer, [kept: Table<Kept>, outside: Outside]> = define(
  'Drawer',
  (_bcom, kept, outside) => ({
    current() {
      const [last] = [...kept.entries()].slice(-1);
      if (last !== undefined && (last[1].actor.look().usesLeft ?? 0) > 0) return { grant: last[0], cap: last[1].cap };
      const name = String(kept.size).padStart(6, '0');
      const { cap, actor } = grantOf(outside, { uses: USES, for: 3_600_000 }, `g${name}`);
      kept.set(name, { cap, actor });
      return { grant: name, cap };
    },
    left: () => [...kept.entries()].map(([name, { actor }]) => [name, actor.look().usesLeft as number] as const),
  }),
);

/** The grants allow calls of `act`. */
export async function open(
  folder: string,
  act: (call: number) => void,
): Promise<{ readonly store: Store; readonly vats: Vats; readonly drawer: Far<Drawer> }> {
  const store = await openStore({ path: folder });
  const outside = driver<Outside>({ act: ([call]) => act(call) }, { name: 'outside' });
  const vats = await openVats({ store, definitions: [...definitions, Drawer] });
  const drawer = await vats.vat('grants').root('drawer', () => Drawer(table(), outside as unknown as Outside));
  return { store, vats, drawer };
}

/** The number of a call tells its grant and the life of the child. */
export const callOf = (grant: string, life: number, n: number): number => (Number(grant) * 100 + life) * 100_000 + n;
export const grantOfCall = (call: number): string => String(Math.floor(call / 10_000_000)).padStart(6, '0');

export { E };
