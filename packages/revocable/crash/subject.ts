/** Grants of a few uses each, in a store that lasts: what the child works on and the judge opens. */
import { type Definition, define, driver, E, type Far, openStore, openVats, type Store, type Table, table, type Vats } from '@hob/vat'; // biome-ignore format: one line
import { definitions, type Gate, grantOf } from '../src/index.ts';

export const USES = 40;

export interface Outside {
  act(call: number): void;
}
interface Kept {
  readonly cap: Outside;
  readonly gate: Gate;
}
export interface Drawer {
  /** The cap of the newest grant; makes a new one where that is used up. */
  current(): { readonly grant: string; readonly cap: Outside };
  left(): readonly (readonly [grant: string, left: number])[];
}
export const Drawer: Definition<Drawer, [kept: Table<Kept>, outside: Outside]> = define(
  'Drawer',
  (_bcom, kept, outside) => ({
    current() {
      const [last] = [...kept.entries()].slice(-1);
      if (last !== undefined && (last[1].gate.look().usesLeft ?? 0) > 0) return { grant: last[0], cap: last[1].cap };
      const name = String(kept.size).padStart(6, '0');
      const { cap, gate } = grantOf(outside, { uses: USES, for: 3_600_000 }, `g${name}`);
      kept.set(name, { cap, gate });
      return { grant: name, cap };
    },
    left: () => [...kept.entries()].map(([name, { gate }]) => [name, gate.look().usesLeft as number] as const),
  }),
);

/** `act` is what the grants are for. */
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

/** `n` of a call says which grant it was made on, and in which life. */
export const callOf = (grant: string, life: number, n: number): number => (Number(grant) * 100 + life) * 100_000 + n;
export const grantOfCall = (call: number): string => String(Math.floor(call / 10_000_000)).padStart(6, '0');

export { E };
